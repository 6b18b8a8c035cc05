"""A table of heads: what it sends to the browser, and which rows a browser may name."""

import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.pictures import payload
from viz.pictures.head_table import component
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.text.written import NamedHead

TABLE = HeadTable(
    [NamedHead("decoder.cross", 1, 2), "L3, all heads"],
    [HeadColumn("Change", np.array([-0.5, np.nan], np.float32), 2, "nats")],
    "Two heads",
    selected=1,
)


def test_names_are_links_where_they_know_their_head_and_what_is_unknown_has_no_number() -> None:
    header, _ = unpack(payload.pack(TABLE))
    assert (header["heads"], header["addresses"]) == (["L2 H3", "L3, all heads"], ["#head-decoder.cross-L2H3", ""])
    assert header["columns"] == [{"title": "Change", "unit": "nats", "numbers": [-0.5, None], "texts": ["−0.50", "–"]}]


@pytest.mark.parametrize(("answer", "chosen"), [({"row": 1}, [1]), ({"row": 2}, []), ({"row": "1"}, []), ({}, [])])
def test_a_row_is_chosen_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, object], chosen: list[int]
) -> None:
    heard: list[int] = []
    monkeypatch.setattr(component.COMPONENT, "show", lambda _table, *, key, row: row(answer))
    head_table(TABLE, key="table", on_row=heard.append)
    assert heard == chosen
