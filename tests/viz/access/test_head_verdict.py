"""What is asked of a head and what interventions on it answer, whichever of two tokens is called right."""

from typing import Any

import numpy as np
import pytest

from model import Translator
from model.analysis.metrics.head_metrics import HeadName
from model.nn.edits import HeadEdit, MakeUniform, PointAt, SwitchOff
from viz.access import head_verdict
from viz.access.head_verdict import EveryHead, Question
from viz.selection.branch_codes import EditHead
from viz.server.background_jobs import Progress
from viz.text.written import CROSS, DECODER, ENCODER, Site


def edit(site: Site, key: int | None = None, *, how: Any = "off", once: bool = False) -> EditHead:
    return EditHead("point" if key is not None else how, site, 3, 1, key, once)


@pytest.mark.parametrize(
    ("of", "step"),
    [
        (edit(DECODER, 5), 3), (edit(DECODER, 2), 0), (edit(DECODER, 1), 0), (edit(DECODER), 0), (edit(CROSS, 5), 0),
        (edit(ENCODER, 5), 0),
    ],
)  # fmt: skip
def test_a_head_is_pointed_at_a_token_once_its_row_has_read_it(of: EditHead, step: int) -> None:
    assert head_verdict.first_step(of, 2) == step


@pytest.mark.parametrize(
    ("of", "made"),
    [
        (edit(CROSS), SwitchOff(CROSS, 3, 1, since=7)),
        (edit(CROSS, once=True), SwitchOff(CROSS, 3, 1, row=7)),
        (edit(DECODER, how="uniform"), MakeUniform(DECODER, 3, 1, since=7)),
        (edit(ENCODER), SwitchOff(ENCODER, 3, 1)),
        (edit(CROSS, 0), PointAt(CROSS, 3, 1, 0, since=7)),
        (edit(DECODER, 4, once=True), PointAt(DECODER, 3, 1, 4, row=7)),
    ],
)
def test_an_edit_begins_in_its_row_and_one_of_the_encoder_holds_throughout(of: EditHead, made: HeadEdit) -> None:
    assert head_verdict.head_edit(7, of) == made


@pytest.mark.parametrize(
    ("off", "swapped", "strongest"),
    [
        # A choice of 1 nat becomes the other one below 0, not at it.
        ([-0.9, -1.0, -1.1], None, 2),
        ([-1.1, -2.0, -3.0], [-9.0, 0.0, 0.0], 0),
        ([-0.5, -0.2, 0.3], [-1.0, -1.1, -0.9], 1),
        ([-0.5, -0.2, 0.3], [0.1, -0.8, 0.2], 1),
        ([0.5, -0.2, 0.3], None, 1),
    ],
)
def test_the_strongest_head_flips_the_choice_if_any_does_and_moves_it_most(
    off: list[float], swapped: list[float] | None, strongest: int
) -> None:
    other = None if swapped is None else np.array(swapped)
    found = EveryHead(before=1.0, prefers_right=True, in_b=None, off=np.array(off), swapped=other)
    assert found.strongest == strongest
    assert found.flips(np.array([-0.9, -1.0, -1.1])).tolist() == [False, False, True]


def test_every_head_is_measured_on_what_the_model_prefers_whichever_token_is_right(translator: Translator) -> None:
    texts = ("The dog was tired.", "The dog was late again.")
    a, b = (translator.word_choice(text, "Der Hund war müde.", "Der Tom war müde.") for text in texts)
    found, heads = [], head_verdict.all_heads(translator)
    for asked in (
        Question("", texts, a, b, ("x", "y")),
        Question("", texts, a.turned, b.turned, ("y", "x")),
        Question("", (texts[0], ""), a, None, ("x", "y")),
    ):
        task = head_verdict.every_head(translator, asked)
        progress = Progress(task.total, task.unit)
        found.append(task.compute(progress))
        assert progress.done == task.total == len(heads) * (1 if asked.b is None else 2)
    first, turned, alone = found
    logits = [translator.place_logits(choice.place)[0].detach() for choice in (a, b)]
    gaps = [float(of[choice.right] - of[choice.wrong]) for of, choice in zip(logits, (a, b), strict=True)]
    assert first.before == pytest.approx(abs(gaps[0]), abs=1e-5)
    assert first.in_b == pytest.approx(gaps[1] * (1 if gaps[0] >= 0 else -1), abs=1e-5)
    assert [each.prefers_right for each in found] == [gaps[0] >= 0, gaps[0] < 0, gaps[0] >= 0]
    assert (alone.in_b, alone.swapped) == (None, None)
    assert first.swapped is not None
    assert turned.swapped is not None
    for other in (turned, alone):
        np.testing.assert_allclose(other.off, first.off, atol=1e-5)
    np.testing.assert_allclose(turned.swapped, first.swapped, atol=1e-5)
    # One head by itself says the same, and where it looks.
    trace = translator.trace_tokens(texts[0], [*a.place.target[1:], a.right])
    looks_at = {}
    every_pointed = head_verdict.every_head_pointed(translator, Question("", texts, a, b, ("x", "y")))
    pointed = every_pointed.compute(Progress(every_pointed.total, every_pointed.unit))
    assert len(set(pointed.keys)) > 2
    for head in (HeadName(CROSS, 1, 2), HeadName(ENCODER, 1, 0)):
        alone_task = head_verdict.tested(
            translator, Question("", texts, a, b, ("x", "y")), (head.site, head.layer, head.head)
        )
        stated = alone_task.compute(Progress(1, "heads"))
        assert stated.verdict.off.change == pytest.approx(first.off[heads.index(head)], abs=1e-5)
        looks_at[head.site] = stated.looks_at
        assert pointed.keys[heads.index(head)] == stated.key != ""
    weights = trace.weights(CROSS, 1)[2, a.place.row]
    token, weight = looks_at[CROSS]
    assert token == trace.source_tokens[int(weights.argmax())]
    assert weight == pytest.approx(float(weights.max()), abs=1e-5)
    assert looks_at[ENCODER] == ("", 0.0)
