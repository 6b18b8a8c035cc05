from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.sent import sent_to, unpack
from viz.components.head_grid.component import (
    Followed,
    HeadChoice,
    Ranking,
    TileJobs,
    TileMetric,
    pack_grid,
    read_choice,
)
from viz.core.theme import SEQUENTIAL

METRIC = TileMetric("Entropy", np.array([[1.0, np.nan], [0.5, 0.0]]), 2, "bits", "What it means.")


def header_of(
    address: str,
    shape: tuple[int, int],
    selected: HeadChoice | None,
    metric: TileMetric | None,
    ranking: Ranking | None,
    followed: Followed | None,
) -> dict[str, Any]:
    return unpack(pack_grid(address, shape, selected, metric, ranking, followed))[0]


def test_the_payload_names_tiles_colours_and_the_open_head() -> None:
    followed = Followed("site", ("here", "there"), (None, None))
    header = header_of("here", (2, 3), HeadChoice(1, 2), None, None, followed)
    assert (header["address"], header["selected"]) == ("here", [1, 2])
    assert header["followed"] == {"control": "site", "addresses": ["here", "there"], "jobs": [None, None]}
    assert tuple(header["stops"]) == SEQUENTIAL
    assert (header["ranked"], header["metric"], header["notes"]) == (None, None, [])


def test_the_payload_says_what_stands_where_and_under_each_tile() -> None:
    ranking = Ranking((HeadChoice(1, 0), HeadChoice(0, 1)), "Ranked.")
    header = header_of("here", (2, 2), None, METRIC, ranking, None)
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
        pack_grid("here", (1, 1), None, METRIC, None, None)


@pytest.mark.parametrize(
    "value",
    [None, "head", [], {}, {"layer": 0}, {"layer": "0", "head": 1}, {"layer": 2, "head": 0}, {"layer": 0, "head": -1}],
)
def test_what_names_no_head_is_no_choice(value: object) -> None:
    assert read_choice(value, layers=2, heads=3) is None


def test_a_choice_is_read() -> None:
    assert read_choice({"layer": 1, "head": 2}, layers=2, heads=3) == HeadChoice(1, 2)


def grid_page() -> None:
    """Runs inside AppTest."""
    import streamlit as st

    from viz.components.head_grid.component import HeadChoice, head_grid

    def tell(choice: HeadChoice) -> None:
        st.text(str(choice))

    head_grid("here", (2, 2), selected=HeadChoice(1, 0), on_open=tell, key="grid")


def test_on_a_page_nothing_is_chosen_until_a_person_chooses() -> None:
    app = AppTest.from_function(grid_page).run()
    ((header, _),) = sent_to(app, "head_grid")
    assert not app.text
    assert header["selected"] == [1, 0]


def test_jobs_are_sent_one_for_each_head() -> None:
    jobs = TileJobs(("", "previous"), ("", "previous token 0.88"), ("", ""))
    header, _ = unpack(pack_grid("a", (1, 2), None, None, None, None, jobs=jobs))
    assert header["jobs"] == {"short": ["", "previous"], "said": ["", "previous token 0.88"], "intervals": ["", ""]}
    with pytest.raises(AssertionError, match="for each head"):
        pack_grid("a", (2, 2), None, None, None, None, jobs=jobs)
