"""Branches of a translation: grown as the model itself would, kept, shown, dropped, and found again by a link."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from torch import nn

from model import MakeUniform, PointAt, Sampling, SwitchOff, Translator
from model.analysis.interventions.edit_comparison import compare_edit
from model.decoding.sampling import Draws
from model.nn.edits import HeadEdit
from tests.viz.pages.decoding.viewer import TEXT, Viewer
from viz.pages.decoding import translations
from viz.selection.branch_codes import MAX_BRANCHES, EditHead
from viz.selection.url import to_params


def unlike(viewer: Viewer, step: int) -> int:
    """The second candidate of a step."""
    return viewer.shown.steps[step].candidates[1].token_id


def test_a_forced_token_goes_on_as_a_session_of_ones_own_would(saved: Translator) -> None:
    viewer = Viewer()
    own, token_id = viewer.ids, unlike(viewer, 4)
    viewer.run(lambda: translations.write(4, (token_id,)))
    session = saved.decode(TEXT)
    for done in own[:4]:
        session.force(done)
    session.force(token_id)
    session.run()
    expected = session.trace()
    assert viewer.ids == [step.token_id for step in session.steps]
    assert viewer.shown.translation == expected.translation
    for site in expected.sites:
        np.testing.assert_allclose(viewer.shown.weights(site, 1), expected.weights(site, 1), atol=1e-6)
    # The new branch is shown at the step that was changed.
    assert viewer.selection.decoding.branches == (f"0-4-t{token_id}",)
    assert (viewer.selection.decoding.branch, viewer.selection.common.step) == (1, 4)
    assert viewer.notices == []


def test_only_the_new_rows_are_computed_and_nothing_twice(rows_computed: list[nn.Module]) -> None:
    viewer = Viewer(text="Only new rows of this.")
    token_id, other = unlike(viewer, 6), unlike(viewer, 3)
    rows_computed.clear()
    viewer.run(lambda: translations.write(6, (token_id,)))
    assert len(rows_computed) == len(viewer.ids) - 6
    viewer.run(lambda: translations.write(3, (other,)))
    rows_computed.clear()
    for number in (1, 0, 2):
        viewer.run(partial(translations.show, number))
    assert rows_computed == []


def test_an_equal_branch_is_shown_and_not_doubled_another_token_a_sibling_and_the_same_one_none() -> None:
    viewer = Viewer()
    own = viewer.ids[4]
    second, third = (viewer.shown.steps[4].candidates[rank].token_id for rank in (1, 2))
    viewer.run(lambda: translations.write(4, (second,))).run(lambda: translations.show(0))
    viewer.run(lambda: translations.write(4, (second,)))
    assert (len(viewer.selection.decoding.branches), viewer.selection.decoding.branch) == (1, 1)
    viewer.run(lambda: translations.write(4, (third,))).run(lambda: translations.show(0))
    viewer.run(lambda: translations.write(4, (own,)))
    assert viewer.selection.decoding.branches == (f"0-4-t{second}", f"0-4-t{third}")
    assert "already" in viewer.notices[0]


def test_the_end_can_be_written_and_nothing_after_it(saved: Translator) -> None:
    end = saved.config.eos_id
    viewer = Viewer()
    viewer.run(lambda: translations.write(3, (end,)))
    assert len(viewer.ids) == 4
    viewer.run(lambda: translations.write(4, (40,)))
    assert "ends after" in viewer.notices[0]
    viewer.run(lambda: translations.write(1, (end, 40)))
    assert "before the translation ends" in viewer.notices[0]
    assert len(viewer.selection.decoding.branches) == 1


def test_a_draw_is_that_of_the_session_with_the_same_seed(saved: Translator) -> None:
    viewer = Viewer(draw="7")
    own = viewer.ids
    viewer.run(lambda: translations.draw(3, 150, 20, 90))
    session = saved.decode(TEXT)
    for done in own[:3]:
        session.force(done)
    session.run(Draws(sampling=Sampling(temperature=1.5, top_k=20, top_p=0.9), seed=7))
    assert viewer.ids == [step.token_id for step in session.steps]
    assert viewer.selection.decoding.branches == ("0-3-draw-150-20-90-7",)


EDITS = [
    (EditHead("off", "decoder.cross", 1, 2), lambda step: SwitchOff("decoder.cross", 1, 2, since=step)),
    (EditHead("uniform", "decoder.self", 0, 3, once=True), lambda step: MakeUniform("decoder.self", 0, 3, row=step)),
    (EditHead("point", "decoder.cross", 0, 1, 2), lambda step: PointAt("decoder.cross", 0, 1, 2, since=step)),
    (EditHead("point", "encoder.self", 1, 1, 0), lambda step: PointAt("encoder.self", 1, 1, 0)),
    (EditHead("off", "encoder.self", 0, 0), lambda step: SwitchOff("encoder.self", 0, 0)),
]


@pytest.mark.parametrize(("action", "named"), EDITS, ids=[f"{a.edit} {a.site}" for a, _ in EDITS])
def test_an_edited_branch_is_that_of_the_models_own_comparison(
    saved: Translator, action: EditHead, named: Callable[[int], HeadEdit]
) -> None:
    viewer = Viewer()
    viewer.run(lambda: translations.add(5, action))
    compared = compare_edit(saved, TEXT, 5, [named(5)])
    assert viewer.ids == [step.token_id for step in compared.edited_steps]
    probabilities = [step.log_prob for step in viewer.shown.steps]
    # Rows before the step are shared where the encoder is not edited, and computed with the edit where it is.
    np.testing.assert_allclose(probabilities, [step.log_prob for step in compared.edited_steps], atol=1e-4)


def test_edits_of_several_branches_add_up(saved: Translator) -> None:
    first, second = (EditHead("off", "decoder.cross", 1, 2), EditHead("uniform", "decoder.cross", 0, 1, once=True))
    viewer = Viewer()
    viewer.run(lambda: translations.add(2, first)).run(lambda: translations.add(4, second))
    written = viewer.ids
    viewer.run(lambda: translations.write(6, (40,)))
    session = saved.decode(
        TEXT, edits=[SwitchOff("decoder.cross", 1, 2, since=2), MakeUniform("decoder.cross", 0, 1, row=4)]
    )
    for token_id in (*written[:6], 40):
        session.force(token_id)
    session.run()
    assert viewer.ids == [step.token_id for step in session.steps]
    expected = [step.log_prob for step in session.steps]
    np.testing.assert_allclose([step.log_prob for step in viewer.shown.steps], expected, atol=1e-4)
    assert [code.partition("-")[0] for code in viewer.selection.decoding.branches] == ["0", "1", "2"]


def test_a_link_rebuilds_every_branch() -> None:
    first = Viewer()
    token_id = unlike(first, 4)
    first.run(lambda: translations.write(4, (token_id,))).run(lambda: translations.draw(7, 120, 0, 100))
    second = Viewer(**to_params(first.selection, "decoding"))
    assert second.ids == first.ids
    assert second.selection.decoding.branches == first.selection.decoding.branches


@pytest.mark.parametrize(
    ("branches", "kept", "said"),
    [
        ("0-4-t40.zzz.1-6-t41", ("0-4-t40", "1-6-t41"), "unknown branch"),
        ("0-900-t40", (), "no token 901"),
        ("0-4-t99999", (), "Token ids"),
        ("0-4-off-c-9-0", (), "Layers"),
        ("0-4-off-c-0-99", (), "Heads"),
        ("0-4-point-d-0-0-9", (), "later"),
        ("0-4-point-c-0-0-99", (), "Keys"),
        ("0-4-t3-t40", (), "translation ends"),
        ("5-4-t40", (), "does not come before"),
        (".".join(["0-4-t40"] * 30), ("0-4-t40",) * MAX_BRANCHES, "30 branches"),
    ],
)
def test_a_branch_that_cannot_be_is_left_out_with_a_sentence(branches: str, kept: tuple[str, ...], said: str) -> None:
    viewer = Viewer(branches=branches, branch="1")
    assert viewer.selection.decoding.branches == kept
    assert any(said in notice for notice in viewer.notices), viewer.notices
    assert viewer.selection.decoding.branch == (1 if kept else 0)
    assert viewer.shown.text == TEXT


def test_a_branch_or_step_that_is_not_there_is_said_and_nothing_lost() -> None:
    viewer = Viewer(branches="0-4-t40", branch="7", step="5000")
    assert viewer.selection.decoding.branches == ("0-4-t40",)
    assert (viewer.selection.decoding.branch, viewer.selection.common.step) == (0, len(viewer.ids) - 1)
    assert [notice.split(",")[0] for notice in viewer.notices] == ["The URL names branch 7", "The URL names step 5001"]
