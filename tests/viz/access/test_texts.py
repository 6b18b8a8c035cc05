"""Words that a vocabulary barely knows."""

import pytest

from model.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.paths import ROOT
from viz.access.texts import rare_words
from viz.selection.examples import EXAMPLES


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")


def rare_in(text: str, tokenizer: Tokenizer) -> list[str]:
    return list(rare_words((*tokenizer.tokens(tokenizer.encode(text)), "</s>"), SPECIAL_TOKENS))


@pytest.mark.parametrize("word", ["qzxvkj", "Pneumonoultramicroscopic", "naïveté😀", "猫"])
def test_a_word_in_many_pieces_in_letters_or_in_bytes_is_rare(tokenizer: Tokenizer, word: str) -> None:
    assert rare_in(f"The {word} sleeps.", tokenizer) == [word]


@pytest.mark.parametrize("text", [*(one.text for one in EXAMPLES[:8]), "It's 2,048.50 euros, isn't it?", "A; b c."])
def test_no_everyday_word_number_or_letter_is_rare(tokenizer: Tokenizer, text: str) -> None:
    assert rare_in(text, tokenizer) == []
