"""Branches removed with their children, undone, and where two differ."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from model.decoding.session import DecodingSession
from tests.viz.pages.decoding.viewer import Viewer
from viz.pages.decoding import translations
from viz.pages.decoding.branches import comparison
from viz.selection import state


def test_a_branch_goes_with_its_children_and_undo_computes_nothing(advances: list[DecodingSession]) -> None:
    viewer = Viewer()
    for step, token_id in ((3, 40), (5, 41)):
        viewer.run(partial(translations.write, step, (token_id,)))
    before, ids = viewer.selection, viewer.ids
    viewer.run(lambda: comparison.remove(1))
    assert (viewer.selection.decoding.branches, viewer.selection.decoding.branch) == ((), 0)
    advances.clear()
    viewer.run(lambda: state.undo(1))
    assert viewer.selection == before
    assert viewer.ids == ids
    assert advances == []


def test_when_another_branch_is_removed_the_one_shown_stays() -> None:
    viewer = Viewer()
    for token_id in (40, 41):
        viewer.run(partial(translations.write, 3, (token_id,)))
    ids = viewer.ids
    viewer.run(lambda: comparison.remove(1))
    assert viewer.selection.decoding.branch == 1
    assert viewer.ids == ids


@pytest.mark.parametrize(
    ("first", "second", "step"),
    [([5, 6, 7], [5, 8, 7], 1), ([5, 6], [5, 6, 7], 2), ([5, 6, 7], [5, 6], 2), ([5, 6], [5, 6], None), ([], [5], 0)],
)
def test_translations_first_differ_where_one_writes_another_token_or_writes_on(
    first: list[int], second: list[int], step: int | None
) -> None:
    both: list[Any] = [SimpleNamespace(steps=[SimpleNamespace(token_id=one) for one in ids]) for ids in (first, second)]
    assert comparison.first_difference(*both) == step
