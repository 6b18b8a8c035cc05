"""A trail of codes gives, step by step, parts that add up to what was asked, and says where it can go no further."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.analysis.reasons.score import MAX_STEPS, Question, Reason, explain
from model.analysis.reasons.trail import LONGEST, follow_trail, leading
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
