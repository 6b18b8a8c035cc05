"""The words of the pronoun curriculum: nouns with gender and kind, cues, people.

A *cue* is what decides to whom a pronoun refers: a property (“tired”) or something that is done to it (“fed”).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat"]


DETERMINERS = {
    "the": {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")},
    "a": {"m": ("ein", "einen", "einem"), "f": ("eine", "eine", "einer"), "n": ("ein", "ein", "einem")},
    "my": {"m": ("mein", "meinen", "meinem"), "f": ("meine", "meine", "meiner"), "n": ("mein", "mein", "meinem")},
    "this": {
        "m": ("dieser", "diesen", "diesem"), "f": ("diese", "diese", "dieser"), "n": ("dieses", "dieses", "diesem"),
    },
}  # fmt: skip
PRONOUNS = {"m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm")}
PRONOUN_FORMS = frozenset(form for forms in PRONOUNS.values() for form in forms)
CASES: tuple[Case, ...] = ("nom", "acc", "dat")
GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}
SPOKEN_VOWEL = re.compile("(?!uni|uku)[aeiou]|hour")
UNCOUNTED = {"drink", "food", "solid"}
"""Kinds whose nouns take no “a”."""


@dataclass(frozen=True)
class Noun:
    """One noun in both languages.

    Attributes:
        english: singular.
        german, oblique: nominative, and accusative and dative.
        gender: of the German noun.
        head: English of the noun written by hand that a dictionary's compound ends in; “” where there is none.
    """

    english: str
    german: str
    oblique: str
    gender: Gender
    head: str = ""

    def in_german(self, determiner: str, case: Case) -> str:
        """With its determiner, declined."""
        article = DETERMINERS[determiner][self.gender][CASES.index(case)]
        return f"{article} {self.german if case == 'nom' else self.oblique}"

    def in_english(self, determiner: str) -> str:
        """With its determiner; “an” before a vowel that is spoken."""
        article = "an" if determiner == "a" and SPOKEN_VOWEL.match(self.english) else determiner
        return f"{article} {self.english}"

    def pronoun(self, case: Case) -> str:
        """What “it” becomes where it refers to this noun."""
        return PRONOUNS[self.gender][CASES.index(case)]


def _noun(english: str, german: str) -> Noun:
    article, _, name = german.partition(" ")
    nominative, _, oblique = name.partition("/")
    return Noun(english, nominative, oblique or nominative, GENDERS[article])


def entries_of(name: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The lines of a file, each `kind: English=German, English=German, …`."""
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        kind, _, entries = line.partition(": ")
        yield (
            kind,
            [(english, german) for english, _, german in (entry.partition("=") for entry in entries.split(", "))],
        )


NounsByKind = Mapping[str, tuple[Noun, ...]]
NOUNS: Final[NounsByKind] = {
    kind: tuple(_noun(*entry) for entry in entries) for kind, entries in entries_of("nouns.txt")
}
"""Nouns by kind: English = German nominative with its article.

An oblique form follows the German noun where it has one (der Bär/Bären). A noun may be of several kinds.
"""
CUES: Final = {english: german for _, entries in entries_of("cues.txt") for english, german in entries}
"""Properties come after “to be” (German: undeclined); actions are past tense, alike for er/sie/es."""
((_, HUMANS),) = entries_of("people.txt")
