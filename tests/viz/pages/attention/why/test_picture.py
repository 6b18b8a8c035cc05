"""The picture of a trail: what goes into each step adds up, and a word that was read twice is one step."""

import pytest

from model import Translator
from model.analysis.reasons.score import Question, Reason, explain
from model.analysis.reasons.trail import leading
from model.analysis.reasons.twins import trace_twin
from model.analysis.reasons.without import without
from tests.shipped import FOLDER, TIRED, WIDE
from viz.pages.attention.why.names import Names
from viz.pages.attention.why.picture import Picture, Tested, draw


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(FOLDER, device="cpu")


@pytest.fixture(scope="module")
def reason(translator: Translator) -> Reason:
    trace = translator.trace(TIRED)
    key, rival = (trace.source_tokens.index(token) for token in ("▁animal", "▁street"))
    row = trace.target_tokens.index("▁es") - 1
    question = Question(site="decoder.cross", layer=4, head=1, row=row, key=key, rival=rival)
    return explain(translator.parts, trace, question, trace_twin(translator, trace, WIDE))


def drawn(reason: Reason, codes: tuple[str, ...] = (), tested: Tested | None = None) -> Picture:
    here, there = (term.run.trace for term in reason.query.terms)
    return draw(Names(here, reason.question), there, leading(reason, codes), codes, tested or {})


def test_what_goes_into_a_step_adds_up_to_it_and_a_word_that_is_read_again_leads_to_its_step(reason: Reason) -> None:
    picture = drawn(reason)
    assert (picture.word, picture.key, picture.rival) == ("es", "animal", "street")
    assert [step.name for step in picture.steps] == ["cross L5 H2", "cross L4", "“it”", "encoder L4", "“tired”"]
    assert picture.steps[0].share == pytest.approx(reason.total)
    shares = [step.share for step in picture.steps[1:]] + [0.0]
    for step, share in zip(picture.steps, shares, strict=True):
        assert share + sum(other.share for other in step.others) == pytest.approx(step.share, abs=0.01)
    (directly,) = (other for step in picture.steps for other in step.others if other.joins is not None)
    assert (directly.name, directly.trail, directly.joins) == ("“tired”", "c4.s13", 4)
    assert [step.twin for step in picture.steps] == ["", "", "", "", "wide"]
    assert [step.is_ahead for step in picture.steps] == [False, True, True, True, True]


def test_a_head_takes_its_share_of_its_sublayer_and_a_step_that_was_tested_says_what_is_left(
    translator: Translator, reason: Reason
) -> None:
    codes = ("c4h5", "s10")
    outcome = without(translator, reason, reason.query, leading(reason, codes).levels[1].part)  # type: ignore[arg-type]
    picture = drawn(reason, codes, {("c4h5",): outcome})
    question, head, word, *_ahead = picture.steps
    assert (head.name, word.name, word.is_here) == ("cross L4 H5", "“it”", True)
    assert (question.others[0].name, question.others[0].trail) == ("other heads of cross L4", "c4")
    assert head.share + sum(other.share for other in question.others) == pytest.approx(reason.total, abs=0.01)
    assert [bool(step.tested) for step in picture.steps[:3]] == [False, True, False]
    assert head.tested.endswith(f"{outcome.by_run.score:.2f}".replace("-", "−"))
