"""A word that is masked in a text, and the two that may stand there."""

import re
from collections.abc import Sequence
from typing import Final

from model.adapters.library_tokenizer import LibraryTokenizer
from model.errors import InputTextError
from model.word_choice import TokenPlace, WordChoice, first_difference

#: How a person writes a masked word, whatever the model's own sign is.
MASK: Final = re.compile(r"\[MASK\]|<mask>")


def with_mask(text: str, pieces: LibraryTokenizer) -> str:
    """A text with the tokenizer's own sign in place of its one [MASK] or <mask>.

    Raises:
        InputTextError: the tokenizer has none, or the text has not one.
    """
    own = pieces.tokenizer.mask_token
    if own is None:
        raise InputTextError("The tokenizer of this model has no token for a masked word: none can be asked for.")
    text = MASK.sub(lambda _: str(own), text)
    if (count := text.count(own)) != 1:
        raise InputTextError("Expected a text with one [MASK] in place of a word, got {count} of them.", count=count)
    return text


def masked_choice(
    place: TokenPlace, filled: Sequence[tuple[int, ...]], words: Sequence[str], special_ids: frozenset[int]
) -> WordChoice:
    """The choice between two words for a mask.

    Args:
        place: of the mask.
        filled: the ids of the text with each word in its place.
        words: these.
        special_ids: of the tokens that are no text.

    Raises:
        InputTextError: a word is more than one token or not in the vocabulary, or both are the same.
    """
    before, after = place.source[: place.row], place.source[place.row + 1 :]
    for ids, word in zip(filled, words, strict=True):
        if len(ids) != len(place.source) or ids[: place.row] != before or ids[place.row + 1 :] != after:
            raise InputTextError(
                "“{word}” is more than one token of this model, and a mask stands for one. Choose another word.",
                word=word,
            )
        if ids[place.row] in special_ids:
            raise InputTextError("“{word}” is not in this model's vocabulary. Choose another word.", word=word)
    _, _, right, wrong = first_difference(*filled)
    return WordChoice(place, right, wrong)
