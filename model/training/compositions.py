"""Compose pronoun sentences from an opening that decides nothing and a continuation that fits one candidate only.

In “Tom photographed the cat behind the sofa, and then he fed it” only what can be fed decides what “it” means. Frames
written one by one can be learned by heart, each with what “it” means in it; of these there are too many for that.

`openings.txt` holds clauses with two candidates that may be anything (English | German); clauses of the training frames
that give a reason are added, each with its own kinds of nouns. `affordances.txt` says what fits which kinds: type |
English = German | kinds of which it is said | further kinds of which it could be said, so that it would not decide.
Types are those of `FORMS`; `phrase` has a preposition and its case after its forms. `continuations.txt` says what a
sentence makes of each form; `*` is the opening, with its verb before its subject where it comes last.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from model.training.lexicon import FRAMES, HELD_OUT_FRAMES, NOUNS, SLOT, Frame, Noun, NounsByKind, rows_of

FORMS: Final = {
    "property": ("property",),
    "does": ("does",),
    "action": ("past", "infinitive", "participle"),
    "phrase": ("past", "infinitive"),
}
"""The forms that an affordance of each type is given in."""

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
    """One form of what fits some kinds of things."""

    form: str  #: a key of `CONTINUATIONS`
    base: str  #: the English of the first form, by which combinations with nouns are held out
    cue: tuple[str, str]  #: English and German
    object: str  #: the pronoun in German, with its preposition where it has one
    #: typical, possible: kinds of which it is said, and of which it could be said.
    typical: frozenset[str]
    possible: frozenset[str]


def _affordances() -> Iterator[Affordance]:
    for kind, forms, typical, possible in rows_of("affordances.txt"):
        english, german = ([form.strip() for form in side.split("/")] for side in forms.split("="))
        preposition, pronoun = "", "{it.acc}"
        if kind == "phrase":
            # The preposition comes after the last form, in German with the case of its pronoun.
            length, last = len(english[0].split()), english.pop().split()
            german_last, german_preposition, case = german.pop().split()
            german.append(german_last)
            english.append(" ".join(last[:length]))
            preposition = f" {' '.join(last[length:])}"
            pronoun = f"{german_preposition} {{it.{case}}}"
        for form, english_form, german_form in zip(FORMS[kind], english, german, strict=True):
            yield Affordance(
                form=form,
                base=english[0] + preposition,
                cue=(english_form + preposition, german_form),
                object=pronoun,
                typical=frozenset(typical.split()),
                possible=frozenset((*typical.split(), *possible.split())),
            )


def _openings() -> tuple[list[Opening], list[Opening]]:
    """Those for anything, and those of the training frames; none with which a held-out frame begins."""
    anything = [Opening(english, german, None) for english, german in rows_of("openings.txt")]
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


AFFORDANCES: Final = tuple(_affordances())
ANY_OPENINGS, FRAME_OPENINGS = _openings()
KINDS: Final = sorted({kind for affordance in AFFORDANCES for kind in affordance.typical})
CONTINUATIONS: Final[dict[str, list[tuple[str, str]]]] = {}
for _form, _english, _german in rows_of("continuations.txt"):
    CONTINUATIONS.setdefault(_form, []).append((_english, _german))


@dataclass(frozen=True)
class Composition:
    """A frame put together for two nouns; its one cue is about `antecedent`, with which `base` must not be held out."""

    frame: Frame
    a: Noun
    b: Noun
    antecedent: Noun
    base: str


def kinds_of(nouns: NounsByKind) -> dict[Noun, frozenset[str]]:
    """The kinds of things that each noun is one of."""
    listed: dict[Noun, set[str]] = {}
    for kind, of_kind in nouns.items():
        for noun in of_kind:
            listed.setdefault(noun, set()).add(kind)
    return {noun: frozenset(kinds) for noun, kinds in listed.items()}


@cache
def _deciding(kind: str, of_other: frozenset[str]) -> list[Affordance]:
    """What fits a kind of things and could not be said of the other candidate, by that one's kinds."""
    return [one for one in AFFORDANCES if kind in one.typical and not one.possible & of_other]


def compositions(rng: random.Random, nouns: NounsByKind = NOUNS) -> Iterator[Composition]:
    """Compositions without end; two candidates of one German gender, which teach little, are rare."""
    kinds = kinds_of(nouns)
    while True:
        opening = rng.choice(FRAME_OPENINGS if rng.random() < OWN_OPENINGS else ANY_OPENINGS)
        kind_a, kind_b = opening.kinds or rng.sample(KINDS, 2)
        a, b = rng.choice(nouns[kind_a]), rng.choice(nouns[kind_b])
        if a == b or (a.gender == b.gender and rng.random() < 0.6):
            continue
        is_about_a = rng.random() < 0.5
        antecedent, kind, other = (a, kind_a, b) if is_about_a else (b, kind_b, a)
        if not (fitting := _deciding(kind, kinds[other])):
            continue
        affordance = rng.choice(fitting)
        english, german = rng.choice(CONTINUATIONS[affordance.form])
        clause = opening.inverted if german.endswith("*.") else opening.german
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
