"""Branches removed with their children, and brought back."""

from functools import partial

from model.decoding.session import DecodingSession
from tests.viz.pages.decoding.viewer import Viewer
from viz.pages.decoding import translations
from viz.pages.decoding.branches import removal


def test_what_is_removed_goes_with_its_children_and_can_be_brought_back(advances: list[DecodingSession]) -> None:
    viewer = Viewer()
    for step, token_id in ((3, 40), (5, 41)):
        viewer.run(partial(translations.write, step, (token_id,)))
    before, ids = viewer.selection, viewer.ids
    viewer.run(lambda: removal.remove(1))
    assert (viewer.selection.decoding.branches, viewer.selection.decoding.branch) == ((), 0)
    advances.clear()
    viewer.run(removal.bring_back)
    assert viewer.selection == before
    assert viewer.ids == ids
    assert advances == []


def test_when_another_branch_is_removed_the_one_shown_stays() -> None:
    viewer = Viewer()
    for token_id in (40, 41):
        viewer.run(partial(translations.write, 3, (token_id,)))
    ids = viewer.ids
    viewer.run(lambda: removal.remove(1))
    assert viewer.selection.decoding.branch == 1
    assert viewer.ids == ids
