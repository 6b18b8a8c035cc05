"""The words of the pronoun curriculum (nouns with gender and kind, cues, people), and its sentence frames.

A *cue* is what decides to whom a pronoun refers: a property (“tired”) or something that is done to it (“fed”). Slots of
frames: `{a}` and `{b}` are the candidates, `{who}` a person, `{deg}` a degree word, `{cue}` what decides, `{it}` the
pronoun; in German with a case.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat"]

#: Determiner as English has it → nominative, accusative, dative, genitive of m, f, n and the plural; "" is none.
DETERMINERS: Final[dict[str, dict[str, tuple[str, str, str, str]]]] = {
    "the": {
        "m": ("der", "den", "dem", "des"), "f": ("die", "die", "der", "der"), "n": ("das", "das", "dem", "des"),
        "plural": ("die", "die", "den", "der"),
    },
    "this": {
        "m": ("dieser", "diesen", "diesem", "dieses"), "f": ("diese", "diese", "dieser", "dieser"),
        "n": ("dieses", "dieses", "diesem", "dieses"), "plural": ("diese", "diese", "diesen", "dieser"),
    },
    "": dict.fromkeys(("m", "f", "n", "plural"), ("", "", "", "")),
    "a": {
        "m": ("ein", "einen", "einem", "eines"), "f": ("eine", "eine", "einer", "einer"),
        "n": ("ein", "ein", "einem", "eines"), "plural": ("", "", "", ""),
    },
    **{
        english: {
            "m": (stem, f"{stem}en", f"{stem}em", f"{stem}es"),
            "f": (f"{stem}e", f"{stem}e", f"{stem}er", f"{stem}er"),
            "n": (stem, stem, f"{stem}em", f"{stem}es"),
            "plural": (f"{stem}e", f"{stem}e", f"{stem}en", f"{stem}er"),
        }
        for english, stem in (("my", "mein"), ("no", "kein"))
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
    """One noun in both languages."""

    english: str  #: singular
    #: german, oblique: nominative, and accusative and dative.
    german: str
    oblique: str
    gender: Gender  #: of the German noun
    head: str = ""  #: English of the noun written by hand that a dictionary's compound ends in; “” where there is none

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


def rows_of(name: str, separator: str = "|") -> Iterator[list[str]]:
    """The lines of a file, each as its columns."""
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        yield [column.strip() for column in line.split(separator)]


def entries_of(name: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The lines of a file, each `kind: English=German, English=German, …`."""
    for kind, entries in rows_of(name, ": "):
        yield kind, [(english, german) for english, _, german in (one.partition("=") for one in entries.split(", "))]


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


HeldOutPart = Literal["dev", "test"]
Part = Literal["train", HeldOutPart]
HELD_OUT_PARTS: tuple[HeldOutPart, ...] = get_args(HeldOutPart)
SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


@dataclass(frozen=True)
class Frame:
    """A pair of templates."""

    name: str  #: of the frame
    #: english, german: the templates.
    english: str
    german: str
    #: kind_a, kind_b: kinds of nouns of the candidates; with an empty `kind_b` there is one candidate.
    kind_a: str
    kind_b: str
    #: about_a, about_b: cues (English, German) that make “it” mean the first or the second.
    about_a: tuple[tuple[str, str], ...]
    about_b: tuple[tuple[str, str], ...]

    @property
    def degrees(self) -> tuple[tuple[str, str], ...]:
        """Words for `{deg}`, English and German: “too” is a reason against something."""
        is_negative = "n't" in self.english or "not" in self.english or "although" in self.english
        return NEGATIVE_DEGREES if is_negative else POSITIVE_DEGREES


GROUPS = {
    "@body": "tired hungry thirsty sick weak scared exhausted nervous lazy",
    "@feeling": "tired hungry thirsty sick exhausted nervous angry",
    "@path": "wide narrow slippery icy busy flooded muddy",
}
NEGATIVE_DEGREES = (("too", "zu"), ("too", "zu"), ("so", "so"), ("very", "sehr"))
POSITIVE_DEGREES = (("so", "so"), ("very", "sehr"), ("really", "wirklich"))


def _cues(column: str) -> tuple[tuple[str, str], ...]:
    for group, cues in GROUPS.items():
        column = column.replace(group, cues)
    parts = (cue.partition("=") for cue in column.split())
    return tuple((english, german or CUES[english]) for english, _, german in parts)


def _frame(name: str, english: str, german: str, kinds: str, about_a: str, about_b: str) -> Frame:
    first, *rest = kinds.split()
    # One candidate of several kinds (there is no {b}), or two candidates of one kind each.
    kind_a, kind_b = (first, rest[0]) if "{b}" in english and len(rest) == 1 else (kinds, "")
    return Frame(name, english, german, kind_a, kind_b, _cues(about_a), _cues(about_b))


def _table(name: str) -> tuple[Frame, ...]:
    return tuple(_frame(*row) for row in rows_of(f"frames_{name}.txt"))


FRAMES: dict[Part, tuple[Frame, ...]] = {part: _table(part) for part in get_args(Part)}
"""Frames to learn from, and those of dev and test that no training sentence has.

One frame a line of `frames_train.txt` and the like: name | English | German | kind of a, kind of b | cues about a |
cues about b. Where there is one candidate, the last column is empty and the fourth may name several kinds. `full=satt`
is a cue with a German word of its own for this frame; the others have theirs in the lexicon.

Of the test frames, 8 were written when dev frames had failed, to be like those, and 24 without knowledge of any
failure, as a sample of everyday sentences, after a training run.
"""

DRAWN_FRAMES: dict[HeldOutPart, tuple[Frame, ...]] = {part: _table(f"drawn_{part}") for part in HELD_OUT_PARTS}
"""Further held-out frames: 5 and 12 in a hundred of 450 that three writers wrote to be unlike all others.

They were drawn by a hash of their names before anything was trained on the others. Rare words decide in many of them.
"""
HELD_OUT_FRAMES = tuple(frame for part in HELD_OUT_PARTS for frame in (*FRAMES[part], *DRAWN_FRAMES[part]))
