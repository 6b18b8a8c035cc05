"""Parts of the decoding page, drawn from what a test makes up: bounds, choices between branches, and what is named."""

from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from tests.viz.pages.decoding.test_beam import by_hand
from viz.pages.decoding import translations
from viz.pages.decoding.beam import tab as beam
from viz.pages.decoding.branches.tab import BranchTree
from viz.pages.decoding.figures import Written, probability_curves
from viz.pictures.figures.charts import MAX_ONE_BY_ONE
from viz.selection import state
from viz.selection.branch_codes import Choice, Write
from viz.selection.selection import Selection


@pytest.fixture
def session(chosen: Selection, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session in which the tests' model is chosen."""
    found: dict[str, Any] = {"selection": chosen}
    monkeypatch.setattr(st, "session_state", found)
    return found


@pytest.mark.parametrize(
    ("shown", "asked", "against"), [(1, 2, 2), (1, 3, 0), (1, 1, 0), (2, None, 1), (0, None, None), (0, 1, 1)]
)
def test_a_branch_is_compared_with_another_that_is_there(
    session: dict[str, Any], shown: int, asked: int | None, against: int | None
) -> None:
    made = (Choice(0, 4, Write((8,))), Choice(1, 6, Write((9,))))
    state.change(branches=translations.codes_of(made), branch=shown, compared_branch=asked)
    assert translations.compared(made) == against


@pytest.mark.parametrize(("number", "compared"), [(1, None), (2, 1)])
def test_no_branch_is_compared_with_itself(session: dict[str, Any], number: int, compared: int | None) -> None:
    state.change(branches=("0-4-t8", "0-4-t9"), compared_branch=1)
    translations.go(number, 3)
    decoding = state.current().decoding
    assert (decoding.branch, decoding.compared_branch, state.current().common.step) == (number, compared, 3)


def test_a_kept_branch_that_did_not_end_well_is_no_rival_and_a_token_that_is_named_is_found() -> None:
    tree = by_hand()
    kept = tree.nodes[6]
    lived = replace(tree, nodes=(*tree.nodes[:6], replace(kept, fate="continued"), *tree.nodes[7:]))
    assert beam.roles(lived)[6] == "lived"
    assert beam.closest_rival(tree, 1, 8) == 8
    assert beam.closest_rival(tree, 1, 99) == 7


def test_curves_reach_over_the_longer_one_and_the_shown_one_has_the_colour_of_its_line_in_the_tree() -> None:
    few, many = (Written("x", ("a",) * count, (1.0,) * count) for count in (1, MAX_ONE_BY_ONE + 1))
    for shown, other in ((few, many), (many, few)):
        figure = probability_curves(shown, other, None)
        # One tick a step would be too many of them.
        assert figure.layout.xaxis.dtick is None
        low, high = figure.layout.yaxis.range
        assert low < 0 < 1 < high
        tree = BranchTree(branches=(), shown=1, against=0, step=0, name="")
        assert [curve.line.color for curve in figure.data] == [tree.against_colour, tree.shown_colour]
