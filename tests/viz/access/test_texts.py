"""Words that a vocabulary barely knows."""

import pytest

from model.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.paths import ROOT
from viz.access.texts import RareWords, rare_words
from viz.selection.examples import EXAMPLES


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")


def rare_in(text: str, tokenizer: Tokenizer) -> RareWords:
    ids = tokenizer.encode(text)
    are_bytes = [token_id in tokenizer.byte_ids for token_id in ids]
    return rare_words((*tokenizer.tokens(ids), "</s>"), (*are_bytes, False), SPECIAL_TOKENS)


@pytest.mark.parametrize("word", ["qzxvkj", "Pneumonoultramicroscopic", "naïveté😀", "猫"])
def test_a_word_in_many_pieces_in_letters_or_in_bytes_is_rare(tokenizer: Tokenizer, word: str) -> None:
    assert list(rare_in(f"The {word} sleeps.", tokenizer).pieces) == [word]


@pytest.mark.parametrize(
    ("text", "are_most"),
    [
        ("THE ANIMAL DIDN'T CROSS THE STREET BECAUSE IT WAS TOO TIRED.", True),
        ("#MondayMotivation 💪🔥 #NoPainNoGain @GymShark 😤😤 #fitfam", True),
        ("The 猫 猫 sleeps.", False),
        ("猫 猫 猫 sleeps.", True),
        ("The ANIMAL sleeps.", False),
        ("Calculate (3 + 4) = 7 | x #1 @home.", False),
    ],
)
def test_most_words_are_rare_where_more_than_half_are_each_time_they_occur(
    tokenizer: Tokenizer, text: str, are_most: bool
) -> None:
    rare = rare_in(text, tokenizer)
    assert rare.are_most is are_most
    assert rare.pieces


def test_a_word_is_rare_if_it_is_in_bytes_and_not_if_its_characters_are_pieces_or_are_typed_like_bytes() -> None:
    assert not rare_words(("▁图", "书", "馆", "</s>"), [False] * 4, SPECIAL_TOKENS).pieces
    typed, whole = ("▁", "<0xE5>", "</s>"), [False, True, False]
    assert rare_words(typed, whole, SPECIAL_TOKENS).are_most
    assert not rare_words(typed, [False] * 3, SPECIAL_TOKENS).pieces


@pytest.mark.parametrize("text", [*(one.text for one in EXAMPLES[:8]), "It's 2,048.50 euros, isn't it?", "A; b c."])
def test_no_everyday_word_number_or_letter_is_rare(tokenizer: Tokenizer, text: str) -> None:
    assert not rare_in(text, tokenizer).pieces
