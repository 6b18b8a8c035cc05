"""Find the words of a sentence that a person can mark, and guess which are marked until they do.

A guess takes the first pronoun, and of the words before it those that follow an article: "The *animal* didn't cross the
*street* because *it* …".
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from model.unspaced import word_starts

Span = tuple[int, int]

PRONOUNS: Final = (
    ("it",),
    ("he", "she", "they", "him", "them"),
    ("its", "his", "her", "their", "himself", "herself", "itself", "themselves"),
)
ARTICLES: Final = frozenset(("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "some"))


@dataclass(frozen=True, slots=True)
class Marks:
    """Positions of the marked words of one sentence, from 0; None where nothing is marked."""

    pronoun: int | None
    antecedent: int | None
    distractor: int | None

    @property
    def positions(self) -> tuple[int | None, int | None, int | None]:
        """Pronoun, antecedent, distractor."""
        return self.pronoun, self.antecedent, self.distractor


def word_spans(text: str) -> list[Span]:
    """The characters [begin, end) of each word: "didn't" is one, "it's" two, signs around a word are not part of it.

    Chinese and Japanese are cut into words by a dictionary (`model.unspaced`).
    """
    return [
        (run.start() + start, run.start() + end)
        for run in re.finditer(r"\w+(?:['’]t\b)?", text)
        for start, end in pairwise([*sorted(word_starts(run[0])), len(run[0])])
    ]


def guessed(text: str, *, swapped: bool) -> Marks:
    """The marks to begin with; `swapped`, the second candidate is the antecedent, as in the twin of a pair."""
    pronoun, nouns = pronoun_and_nouns(text)
    if len(nouns) < 2:
        return Marks(pronoun, None, None)
    antecedent, distractor = reversed(nouns[:2]) if swapped else nouns[:2]
    return Marks(pronoun, antecedent, distractor)


def pronoun_and_nouns(text: str) -> tuple[int | None, list[int]]:
    """The position of the first pronoun, and those of the words before it that follow an article."""
    words = [text[slice(*span)].lower() for span in word_spans(text)]
    pronoun = next((words.index(word) for group in PRONOUNS for word in words if word in group), None)
    return pronoun, [i for i in range(1, pronoun or 0) if words[i - 1] in ARTICLES]


def last_word(text: str, span: Span) -> int | None:
    """The position of the last word within a span: the noun of "the animal"."""
    within = [i for i, (begin, end) in enumerate(word_spans(text)) if span[0] <= begin and end <= span[1]]
    return within[-1] if within else None
