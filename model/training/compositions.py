"""Compose pronoun sentences from an opening that decides nothing and a continuation that fits one candidate only.

In “Tom photographed the cat behind the sofa, and then he fed it” only what can be fed decides what “it” means. Frames
written one by one can be learned by heart, each with what “it” means in it; of these there are too many for that.

`openings.txt` holds clauses with two candidates that may be anything (English | German); clauses of the training frames
that give a reason are added, each with its own kinds of nouns. `affordances.txt` says what fits which kinds: type |
English = German | kinds of which it is said | further kinds of which it could be said, so that it would not decide.
Types are those of `FORMS`; `phrase` has a preposition and its case after its forms.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from model.training.frames import FRAMES, HELD_OUT_FRAMES, SLOT, Frame
from model.training.lexicon import NOUNS, Noun

FORMS: Final = {
    "property": ("property",),
    "does": ("does",),
    "action": ("past", "infinitive", "participle"),
    "phrase": ("past", "infinitive"),
}
"""The forms that an affordance of each type is given in."""

CONTINUATIONS: Final = {
    "property": """
        * because it was {deg} {cue}. | *, weil {it.nom} {deg} {cue} war.
        * because it is {deg} {cue}. | *, weil {it.nom} {deg} {cue} ist.
        *, and it was {deg} {cue}. | *, und {it.nom} war {deg} {cue}.
        *, but it was {deg} {cue}. | *, aber {it.nom} war {deg} {cue}.
        *. It was {deg} {cue}. | *. {it.nom} war {deg} {cue}.
        *. It is {deg} {cue}. | *. {it.nom} ist {deg} {cue}.
        *. Now it is {cue}. | *. Jetzt ist {it.nom} {cue}.
        *. Was it {deg} {cue}? | *. War {it.nom} {deg} {cue}?
        *. Nobody knew that it was {cue}. | *. Niemand wusste, dass {it.nom} {cue} war.
        * although it was {deg} {cue}. | *, obwohl {it.nom} {deg} {cue} war.
        * since it was {deg} {cue}. | *, da {it.nom} {deg} {cue} war.
        * when it was {cue}. | *, als {it.nom} {cue} war.
        * while it was {cue}. | *, während {it.nom} {cue} war.
        * before it was {cue}. | *, bevor {it.nom} {cue} war.
        * until it was {cue}. | *, bis {it.nom} {cue} war.
        * as soon as it was {cue}. | *, sobald {it.nom} {cue} war.
        because it was {deg} {cue}, *. | weil {it.nom} {deg} {cue} war, *.
        although it was {deg} {cue}, *. | obwohl {it.nom} {deg} {cue} war, *.
        when it was {cue}, *. | als {it.nom} {cue} war, *.""",
    "does": """
        *, and it {cue}. | *, und {it.nom} {cue}.
        *, but it {cue}. | *, aber {it.nom} {cue}.
        *. Suddenly it {cue}. | *. Plötzlich {cue} {it.nom}.
        *. Then it {cue}. | *. Dann {cue} {it.nom}.
        * because it {cue}. | *, weil {it.nom} {cue}.
        * although it {cue}. | *, obwohl {it.nom} {cue}.
        * when it {cue}. | *, als {it.nom} {cue}.
        * until it {cue}. | *, bis {it.nom} {cue}.
        while it {cue}, *. | während {it.nom} {cue}, *.
        because it {cue}, *. | weil {it.nom} {cue}, *.""",
    "past": """
        *, and {who} {cue} it. | *, und {who} {cue} {object}.
        *, so {who} {cue} it. | *, deshalb {cue} {who} {object}.
        *, but nobody {cue} it. | *, aber niemand {cue} {object}.
        *. Then {who} {cue} it. | *. Dann {cue} {who} {object}.
        *. Yesterday {who} {cue} it. | *. Gestern {cue} {who} {object}.
        * before {who} {cue} it. | *, bevor {who} {object} {cue}.
        * when {who} {cue} it. | *, als {who} {object} {cue}.
        * because {who} never {cue} it. | *, weil {who} {object} nie {cue}.
        before {who} {cue} it, *. | bevor {who} {object} {cue}, *.""",
    "infinitive": """
        *, and {who} wanted to {cue} it. | *, und {who} wollte {object} {cue}.
        *, but {who} couldn't {cue} it. | *, aber {who} konnte {object} nicht {cue}.
        *, and {who} had to {cue} it. | *, und {who} musste {object} {cue}.
        *. Can you {cue} it? | *. Kannst du {object} {cue}?
        *. Tomorrow {who} will {cue} it. | *. Morgen wird {who} {object} {cue}.
        *. We should {cue} it. | *. Wir sollten {object} {cue}.
        * because {who} had to {cue} it. | *, weil {who} {object} {cue} musste.
        * so that {who} could {cue} it. | *, damit {who} {object} {cue} konnte.
        because {who} wanted to {cue} it, *. | weil {who} {object} {cue} wollte, *.""",
    "participle": """
        *, and it was {cue}. | *, und {it.nom} wurde {cue}.
        *. Yesterday it was {cue}. | *. Gestern wurde {it.nom} {cue}.
        *. Nobody has {cue} it. | *. Niemand hat {it.acc} {cue}.
        *. {who} has already {cue} it. | *. {who} hat {it.acc} schon {cue}.
        * after {who} had {cue} it. | *, nachdem {who} {it.acc} {cue} hatte.
        * before it was {cue}. | *, bevor {it.nom} {cue} wurde.
        after {who} had {cue} it, *. | nachdem {who} {it.acc} {cue} hatte, *.""",
}  # fmt: skip
"""What a sentence makes of each form; `*` is the opening, with its verb before its subject where it comes last."""

NAME: Final = "composed"
SUBJECT_FIRST = re.compile(r"(\{(?:a\.nom|b\.nom|who)\}) (?!und |oder )(\w+) (.*)")
REASONS: Final = (" because it was {deg} {cue}.", " because it was too {cue}.", " because it was {cue}.")
REASON_IN_GERMAN = re.compile(r", (?:weil|da) \{it\.nom\} (?:\{deg\} |zu )?\{cue\} war\.$")
OWN_OPENINGS: Final = 0.5
"""Share of sentences that begin like a training frame that gives a reason."""


@dataclass(frozen=True)
class Opening:
    """A clause with two candidates; without kinds, they may be anything."""

    english: str
    german: str
    kinds: tuple[str, str] | None

    @property
    def inverted(self) -> str | None:
        """The German with its verb first, as it follows a subordinate clause; None where its subject is not first."""
        match = SUBJECT_FIRST.fullmatch(self.german)
        return f"{match[2]} {match[1]} {match[3]}" if match else None


@dataclass(frozen=True)
class Affordance:
    """One form of what fits some kinds of things.

    Attributes:
        form: a key of `CONTINUATIONS`.
        base: the English of the first form, by which combinations with nouns are held out.
        cue: English and German.
        object: the pronoun in German, with its preposition where it has one.
        typical, possible: kinds of which it is said, and of which it could be said.
    """

    form: str
    base: str
    cue: tuple[str, str]
    object: str
    typical: frozenset[str]
    possible: frozenset[str]


def _lines(name: str) -> Iterator[list[str]]:
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        yield [column.strip() for column in line.split("|")]


def _affordances() -> Iterator[Affordance]:
    for kind, forms, typical, possible in _lines("affordances.txt"):
        english, german = ([form.strip() for form in side.split("/")] for side in forms.split("="))
        phrase = _Phrase()
        if kind == "phrase":
            english, german, phrase = _take_apart(english, german)
        for form, english_form, german_form in zip(FORMS[kind], english, german, strict=True):
            yield Affordance(
                form=form,
                base=english[0] + phrase.english,
                cue=(english_form + phrase.english, german_form),
                object=phrase.german,
                typical=frozenset(typical.split()),
                possible=frozenset((*typical.split(), *possible.split())),
            )


@dataclass(frozen=True)
class _Phrase:
    """The preposition of an affordance, with a space before it, and the German one with its pronoun."""

    english: str = ""
    german: str = "{it.acc}"


def _take_apart(english: list[str], german: list[str]) -> tuple[list[str], list[str], _Phrase]:
    """The forms without the preposition after the last of them, and the preposition."""
    length = len(english[0].split())
    last = english[-1].split()
    verb, preposition, case = german[-1].split()
    english = [*english[:-1], " ".join(last[:length])]
    return english, [*german[:-1], verb], _Phrase(f" {' '.join(last[length:])}", f"{preposition} {{it.{case}}}")


def _openings() -> tuple[list[Opening], list[Opening]]:
    """Those for anything, and those of the training frames; none with which a held-out frame begins."""
    anything = [Opening(english, german, None) for english, german in _lines("openings.txt")]
    own = []
    for frame in FRAMES["train"]:
        reason = next((reason for reason in REASONS if frame.english.endswith(reason)), None)
        if reason and frame.kind_b and frame.kind_a != frame.kind_b and REASON_IN_GERMAN.search(frame.german):
            german = REASON_IN_GERMAN.sub("", frame.german)
            english = frame.english.removesuffix(reason).removesuffix(",")
            own.append(Opening(english, german, (frame.kind_a, frame.kind_b)))
    held_out = [SLOT.sub("_", frame.english) for frame in HELD_OUT_FRAMES]

    def is_free(opening: Opening) -> bool:
        return not any(english.startswith(SLOT.sub("_", opening.english)) for english in held_out)

    return list(filter(is_free, anything)), list(filter(is_free, own))


def _continuations() -> dict[str, list[tuple[str, str]]]:
    return {
        form: [(english.strip(), german.strip()) for english, _, german in map(_halves, lines.strip().splitlines())]
        for form, lines in CONTINUATIONS.items()
    }


def _halves(line: str) -> tuple[str, str, str]:
    return line.partition("|")


AFFORDANCES: Final = tuple(_affordances())
ANY_OPENINGS, FRAME_OPENINGS = _openings()
KINDS: Final = sorted({kind for affordance in AFFORDANCES for kind in affordance.typical})
_CONTINUATIONS: Final = _continuations()
_KINDS_OF: Final = {noun: {kind for kind, nouns in NOUNS.items() if noun in nouns} for noun in sum(NOUNS.values(), ())}
_TYPICAL: Final = {kind: [affordance for affordance in AFFORDANCES if kind in affordance.typical] for kind in NOUNS}


@dataclass(frozen=True)
class Composition:
    """A frame put together for two nouns; its one cue is about `antecedent`, with which `base` must not be held out."""

    frame: Frame
    a: Noun
    b: Noun
    antecedent: Noun
    base: str


@cache
def _deciding(kind: str, other: Noun) -> list[Affordance]:
    """What fits a kind of things and could not be said of the other candidate."""
    return [affordance for affordance in _TYPICAL[kind] if not affordance.possible & _KINDS_OF[other]]


def compositions(rng: random.Random) -> Iterator[Composition]:
    """Compositions without end; two candidates of one German gender, which teach little, are rare."""
    while True:
        openings = FRAME_OPENINGS if rng.random() < OWN_OPENINGS else ANY_OPENINGS
        opening = rng.choice(openings)
        kind_a, kind_b = opening.kinds or rng.sample(KINDS, 2)
        a, b = rng.choice(NOUNS[kind_a]), rng.choice(NOUNS[kind_b])
        if a == b or (a.gender == b.gender and rng.random() < 0.6):
            continue
        is_about_a = rng.random() < 0.5
        antecedent, kind, other = (a, kind_a, b) if is_about_a else (b, kind_b, a)
        fitting = _deciding(kind, other)
        if not fitting:
            continue
        affordance = rng.choice(fitting)
        english, german = rng.choice(_CONTINUATIONS[affordance.form])
        follows = german.endswith("*.")
        clause = opening.inverted if follows else opening.german
        if clause is None:
            continue
        frame = Frame(
            NAME,
            english.replace("*", opening.english),
            german.replace("*", clause).replace("{object}", affordance.object),
            kind_a,
            kind_b,
            *(((affordance.cue,), ()) if is_about_a else ((), (affordance.cue,))),
        )
        yield Composition(frame, a, b, antecedent, affordance.base)
