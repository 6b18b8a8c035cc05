from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.sent import caught, sent_to, unpack
from viz.pictures.head_grid.component import Followed, Grid, HeadChoice, Ranking, TileJobs, TileMetric, head_grid
from viz.pictures.payload import pack
from viz.theme import SEQUENTIAL

METRIC = TileMetric("Entropy", np.array([[1.0, np.nan], [0.5, 0.0]]), 2, "bits", "What it means.")


def header_of(grid: Grid) -> dict[str, Any]:
    return unpack(pack(grid))[0]


def test_the_payload_names_tiles_colours_and_the_open_head() -> None:
    followed = Followed("site", ("here", "there"), (None, None))
    header = header_of(Grid(address="here", shape=(2, 3), selected=HeadChoice(1, 2), followed=followed))
    assert (header["address"], header["selected"]) == ("here", [1, 2])
    assert header["followed"] == {"control": "site", "addresses": ["here", "there"], "jobs": [None, None]}
    assert tuple(header["stops"]) == SEQUENTIAL
    assert (header["ranked"], header["metric"], header["notes"]) == (None, None, [])


def test_the_payload_says_what_stands_where_and_under_each_tile() -> None:
    ranking = Ranking((HeadChoice(1, 0), HeadChoice(0, 1)), "Ranked.")
    header = header_of(Grid(address="here", shape=(2, 2), metric=METRIC, ranking=ranking))
    assert header["ranked"] == [2, 1]
    texts, bars = ["1.00", "–", "0.50", "0.00"], [1.0, 0.0, 0.5, 0.0]
    assert header["metric"] == {"name": "Entropy", "unit": "bits", "texts": texts, "bars": bars, "best": []}
    assert header["notes"] == ["What it means.", "Ranked."]


def test_the_highest_tiles_are_framed_by_rank_and_none_without_a_number() -> None:
    values = np.array([[0.2, np.nan, 0.9], [0.0, 0.5, 0.9]])
    assert [TileMetric("Weight", values, 2, "", "", num_best=count).best() for count in (0, 2, 6)] == [
        [],
        [2, 5],
        [2, 5, 4, 0],
    ]


def test_bars_of_nothing_but_zeros_are_empty() -> None:
    assert TileMetric("Same token", np.zeros((1, 2)), 2, "", "").bars() == [0.0, 0.0]


def test_metrics_that_do_not_fit_the_tiles_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="one metric for each"):
        Grid(address="here", shape=(1, 1), metric=METRIC)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "head",
        [],
        {},
        {"layer": 0},
        {"layer": "0", "head": 1},
        {"layer": 2, "head": 0},
        {"layer": 0, "head": -1},
        {"layer": True, "head": 0},
    ],
)
def test_what_names_no_head_opens_none(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, opened = caught(monkeypatch), list[HeadChoice]()
    head_grid(Grid(address="here", shape=(2, 3)), on_open=opened.append, key="grid")
    shown[0].answers["head"](value)
    assert opened == []
    shown[0].answers["head"]({"layer": 1, "head": 2})
    assert opened == [HeadChoice(1, 2)]


def grid_page() -> None:
    """Runs inside AppTest."""
    import streamlit as st

    from viz.pictures.head_grid.component import Grid, HeadChoice, head_grid

    def tell(choice: HeadChoice) -> None:
        st.text(str(choice))

    head_grid(Grid(address="here", shape=(2, 2), selected=HeadChoice(1, 0)), on_open=tell, key="grid")


def test_on_a_page_nothing_is_chosen_until_a_person_chooses() -> None:
    app = AppTest.from_function(grid_page).run()
    ((header, _),) = sent_to(app, "head_grid")
    assert not app.text
    assert header["selected"] == [1, 0]


def test_jobs_are_sent_one_for_each_head() -> None:
    jobs = TileJobs(("", "←"), ("", "#0072b2"), ("", "previous token 0.88"), ("", ""))
    header = header_of(Grid(address="a", shape=(1, 2), jobs=jobs))
    assert header["jobs"] == {
        "signs": ["", "←"], "colours": ["", "#0072b2"], "said": ["", "previous token 0.88"], "intervals": ["", ""],
    }  # fmt: skip
    with pytest.raises(AssertionError, match="for each head"):
        Grid(address="a", shape=(2, 2), jobs=jobs)
