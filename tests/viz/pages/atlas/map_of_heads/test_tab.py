"""A point of the map opens its head."""

import pytest
import streamlit as st

from viz.pages.atlas.map_of_heads import open_point
from viz.selection import state


@pytest.mark.parametrize(
    ("custom", "head"),
    [([1, 2, "x", "y"], (1, 2)), ({"0": 0, "1": 3}, (0, 3))]
    + [(custom, None) for custom in (None, [], [9, 0], [0, -1], ["a", 0], {"0": 1}, {"0": True, "1": 0.5}, "12")],
)
def test_a_point_opens_its_head_only_if_there_is_such_a_head(
    monkeypatch: pytest.MonkeyPatch, custom: object, head: tuple[int, int] | None
) -> None:
    chosen: list[dict[str, int]] = []
    points = [] if custom is None else [{"customdata": custom}]
    monkeypatch.setattr(st, "session_state", {"key": {"selection": {"points": points}}})
    monkeypatch.setattr(state, "change", lambda **values: chosen.append(values))
    open_point("key", (2, 4))
    assert chosen == ([] if head is None else [{"layer": head[0], "head": head[1]}])
