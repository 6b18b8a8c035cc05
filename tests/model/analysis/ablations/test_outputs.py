"""What is told in numbers of the output of small models."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, Translator
from model.analysis.ablations import outputs
from model.analysis.ablations.outputs import Repetition, SharedWords
from model.trace.trace import Trace
from model.training_record import LANGUAGES

TEXT = "The animal didn't cross the street."


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def without_positions(translator: Translator) -> Translator:
    torch.manual_seed(5)
    model = Transformer(replace(translator.config, positions="none"))
    return Translator(model, translator.tokenizer, name="no-positions", languages=LANGUAGES)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Der Hund schläft.", "der hund schläft", SharedWords(3, 3, 3)),
        ("der Hund und der Hase", "und der Hund", SharedWords(5, 3, 2)),
        ("a a b", "a b b", SharedWords(3, 2, 2)),
        ("a b c d", "d c b a", SharedWords(4, 4, 1)),
        ("a b", "", SharedWords(2, 0, 0)),
        ("...", "a", SharedWords(0, 0, 0)),
    ],
)
def test_words_are_shared_as_often_as_both_have_them_and_counted_in_order(
    first: str, second: str, expected: SharedWords
) -> None:
    assert outputs.shared_words(first, second) == expected


def test_a_translation_is_as_like_itself_as_can_be_and_nothing_is_not_like_it() -> None:
    assert outputs.likeness("Der Hund schläft.", "Der Hund schläft.") == 100
    assert outputs.likeness("Der Hund schläft.", "") == 0
    assert 0 < outputs.likeness("Der Hund schläft.", "Der Hund isst.") < 100


def test_words_come_backwards_whole_and_the_end_stays_last() -> None:
    tokens = ["▁The", "▁an", "imal", ".", "</s>"]
    assert outputs.backwards(tokens, frozenset({"</s>"})) == (1, 2, 3, 0, 4)


def test_without_positions_the_words_in_reverse_become_the_same(translator: Translator) -> None:
    blind = without_positions(translator)
    trace = blind.trace(TEXT)
    assert outputs.try_backwards(blind, trace)
    assert not outputs.try_backwards(blind, replace(trace, translation="Something else."))


def test_a_single_word_has_no_other_order(translator: Translator) -> None:
    assert not outputs.try_backwards(translator, translator.trace("Street"))


def test_the_longest_run_of_a_token_is_found_and_whether_the_model_ended(trace: Trace) -> None:
    first = trace.steps[0]
    written = [replace(first, token=token) for token in ("▁a", "▁b", "▁b", "▁b", "▁a")]
    endless = replace(trace, steps=tuple(written))
    assert outputs.longest_repetition(endless) == Repetition("▁b", 3)
    assert not outputs.has_ended(endless)
    assert outputs.has_ended(replace(trace, steps=(*written, replace(first, token="</s>"))))


def test_translations_of_few_different_words_are_counted(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = ["Ich Ich Ich ich", "...", "", "Sie, er", "Er ist da"]
    monkeypatch.setattr(outputs, "translate_all", lambda model, tokenizer, texts, progress: written)
    assert outputs.count_stunted(translator) == 4
