"""Find the nouns of a source sentence whose German, and so its gender, the target has.

English does not mark gender, so the German article of a rare noun is a guess. With these labels training can teach the
encoder the gender of each noun (`Objective`, `gender`).
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.dictionary_lexicon import BY_HAND, DictionaryNoun
from model.training.lexicon import GENDERS

#: The place of a gender in `GENDERS`, where its article stands in the nominative.
PLACES: Final = {gender: place for place, gender in enumerate(GENDERS.values())}
#: Endings that a German noun can have in the singular.
_ENDINGS: Final = ("", "s", "es", "n", "en")
_WORD: Final = re.compile(r"[a-z]+(?:-[a-z]+)*")


class NounGenders:
    """The genders of a dictionary's nouns and of those of the pronoun curriculum, by their English."""

    def __init__(self, nouns: Iterable[DictionaryNoun]) -> None:
        by_hand = ((noun.english, noun.german, noun.gender) for noun in BY_HAND.values())
        self._german: dict[str, dict[str, set[int]]] = {}
        for english, german, gender in chain(((noun.english, noun.german, noun.gender) for noun in nouns), by_hand):
            forms = self._german.setdefault(english.lower(), {})
            for ending in _ENDINGS:
                forms.setdefault(german.lower() + ending, set()).add(PLACES[gender])

    def named_in(self, pair: Pair) -> list[tuple[int, int]]:
        """Of each noun in the singular whose German the target has: where it ends in the source, and its gender.

        Left out are nouns of two genders, and nouns that are the first half of a longer name (the pear of “pear tree”).
        """
        german = set(re.findall(r"[\w-]+", pair.target.lower()))
        words = [(word.start(), word.end()) for word in _WORD.finditer(pair.source.lower())]
        found: dict[int, set[int]] = {}
        for (begin, end), (first, before) in zip(words, [(0, 0), *words], strict=False):
            # The longer name counts: an apple tree is not an apple.
            if two := self._genders(pair.source[first:end], german):
                found.pop(before, None)
            found[end] = two or self._genders(pair.source[begin:end], german)
        return [(end, genders.pop()) for end, genders in found.items() if len(genders) == 1]

    def _genders(self, english: str, german: set[str]) -> set[int]:
        forms = self._german.get(english.lower(), {})
        return {gender for form in forms.keys() & german for gender in forms[form]}

    def tokens_of(self, pair: Pair, token_ids: Sequence[int], tokenizer: Tokenizer) -> tuple[tuple[int, int], ...]:
        """The last token of each such noun, however the source was cut, and its gender as a place in `GENDERS`.

        Empty where the pieces do not spell the source letter by letter.
        """
        if not (named := self.named_in(pair)):
            return ()
        pieces = tokenizer.tokens(token_ids)
        if "".join(pieces) != f"▁{pair.source.replace(' ', '▁')}":
            return ()
        genders, tokens, end = dict(named), list[tuple[int, int]](), -1
        for i, piece in enumerate(pieces):
            begin, end = end, end + len(piece)
            tokens += [(i, genders[at]) for at in range(begin + 1, end + 1) if at in genders]
        return tuple(tokens)
