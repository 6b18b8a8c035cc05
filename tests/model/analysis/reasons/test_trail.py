"""A trail of codes gives, step by step, parts that add up to what was asked, and says where it can go no further."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.analysis.reasons.score import MAX_STEPS, Question, Reason, explain
from model.analysis.reasons.trail import LONGEST, asked_at, follow_trail, leading
from model.analysis.reasons.without import Product, products
from model.errors import TraceError
from model.tokenizer import Tokenizer

TEXT, TWIN, TARGET = "The animal was too tired.", "The animal was too old.", "It was old."
CLOSE = 1e-4


@pytest.fixture(params=["", TWIN], ids=["alone", "with a twin"])
def reason(request: pytest.FixtureRequest, config: TransformerConfig, tokenizer: Tokenizer) -> Reason:
    torch.manual_seed(5)
    model = Transformer(replace(config, num_layers=3))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    translator = Translator(model, tokenizer, name="random", digest="random")
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
    twin = translator.trace(request.param, TARGET) if request.param else None
    return explain(translator.parts, translator.trace(TEXT, TARGET), question, twin)


def test_the_bars_of_every_step_add_up_to_the_bar_that_led_to_it(reason: Reason) -> None:
    codes = ("q", "c2", "s1", "e3h2", "s4", "emb")
    trail = follow_trail(reason, codes)
    assert trail.refused is None
    assert trail.codes == codes
    question, part, word, head, other_word, beginning = trail.levels
    assert question.total == pytest.approx(reason.query.total)
    led = [
        next(bar for bar in (*before.words, *before.parts) if bar.trail == after.trail).share
        for before, after in ((question, part), (part, word), (head, other_word), (other_word, beginning))
    ]
    whole = next(bar for bar in word.parts if bar.trail[-1:] == ("e3",))
    led.insert(2, next(bar for bar in word.heads(whole) if bar.trail == head.trail).share)
    assert [level.total for level in trail.levels[1:]] == pytest.approx(led, abs=CLOSE)
    for level in (question, part, word, head, other_word):
        assert sum(bar.share for bar in level.words or level.parts) == pytest.approx(level.total, abs=CLOSE)


@pytest.mark.parametrize(
    ("codes", "answered"),
    [
        (("q", "c2", "c3"), ("q", "c2")),
        (("q", "c2", "s99", "e1"), ("q", "c2")),
        (("q", "c2h9"), ("q",)),
        (("q", "e1"), ("q",)),
        (("q", "f1h1"), ("q",)),
        (("q", "nonsense", "c2"), ("q",)),
        (("q", "c2", "s1", "emb", "s1"), ("q", "c2", "s1", "emb")),
    ],
)
def test_an_impossible_code_ends_the_trail_before_it_and_is_named(
    reason: Reason, codes: tuple[str, ...], answered: tuple[str, ...]
) -> None:
    trail = follow_trail(reason, codes)
    assert trail.codes == answered
    assert trail.refused is not None
    assert codes[len(answered)] in str(trail.refused.values)


def test_the_leading_trail_takes_the_largest_bar_at_each_step_and_ends(reason: Reason) -> None:
    trail = leading(reason, ("k",))
    assert 1 < len(trail.codes) <= LONGEST
    assert sum(code[0] in "cdef" and code != "emb" for code in trail.codes) <= MAX_STEPS
    for before, after in zip(trail.levels, trail.levels[1:], strict=False):
        towards = [bar for bar in before.words or before.parts if bar.trail and bar.share * before.total > 0]
        assert max(towards, key=lambda bar: abs(bar.share)).trail == after.trail


@pytest.mark.parametrize("codes", [("q",), ("q", "c2")], ids=["sub-layers", "words"])
def test_a_rest_is_tested_as_all_of_its_bars_that_can_be_taken_out(reason: Reason, codes: tuple[str, ...]) -> None:
    trail = follow_trail(reason, codes)
    level = trail.levels[-1]
    bars = level.words or level.parts
    taken, stays = ([bar for bar in bars[2:] if level.can_take(bar) == can] for can in (True, False))
    assert len(taken) > 1
    (rest,) = products(reason, [asked_at(trail, "r2")])
    assert isinstance(rest, Product)
    assert rest.share == pytest.approx(level.total - sum(bar.share for bar in (*bars[:2], *stays)), abs=CLOSE)
    # What stays is what no token decides, or has no partner in the twin.
    for bar in stays:
        assert bar.part is None or bar.part.layer is None
    for bar in taken:
        (alone,) = products(reason, [asked_at(trail, bar.trail[-1])])
        assert isinstance(alone, Product)
        assert alone.share == pytest.approx(bar.share, abs=CLOSE)
    with pytest.raises(TraceError, match="does not exist here"):
        asked_at(trail, f"r{len(bars)}")


def test_a_word_of_the_twin_is_asked_of_the_mirrored_question(reason: Reason) -> None:
    trail = follow_trail(reason, ("q", "c2"))
    if reason.twin is None:
        with pytest.raises(TraceError, match="does not exist here"):
            asked_at(trail, "S3")
        return
    run, other = (term.run for term in reason.query.terms)
    mirrored = explain(run.parts, other.trace, reason.twin, run.trace)
    assert (mirrored.here, mirrored.there) == (reason.there, reason.here)
    (own,) = products(reason, [asked_at(trail, "S3+S4")])
    (expected,) = products(mirrored, [asked_at(follow_trail(mirrored, ("q", "c2")), "s3+s4")])
    assert isinstance(own, Product)
    assert isinstance(expected, Product)
    for name in ("share", "predicted", "by_product"):
        assert getattr(own, name) == pytest.approx(getattr(expected, name), abs=CLOSE)
    with pytest.raises(TraceError, match="does not exist here"):
        asked_at(trail, "S3+s4")
