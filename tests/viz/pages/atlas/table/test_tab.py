"""A row of the table opens its head."""

import pytest
import streamlit as st

from viz.pages.atlas.table import open_row
from viz.selection import state


@pytest.mark.parametrize(
    ("rows", "chosen"), [([6], [{"layer": 1, "head": 2}]), ([], []), ([8], []), (["x"], []), (3, [])]
)
def test_a_row_of_the_table_opens_its_head_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, rows: object, chosen: list[dict[str, int]]
) -> None:
    opened_heads: list[dict[str, int]] = []
    monkeypatch.setattr(st, "session_state", {"atlas-table": {"selection": {"rows": rows}}})
    monkeypatch.setattr(state, "change", lambda **values: opened_heads.append(values))
    open_row(2, 4)
    assert opened_heads == chosen
