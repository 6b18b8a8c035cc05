"""Score translations of sentences that were held out from training: pronouns by meaning, and words to be copied."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from model.training.copying import CopiedKind, CopyingCase
from model.training.lexicon import HeldOutPart
from model.training.pronouns import HELD_OUT, HeldOut, PronounPair, held_out_twins, pronouns_in

Translate = Callable[[Sequence[str]], list[str]]

BEST_KNOWN = {
    "The animal didn't cross the street because it was too tired.": "es",
    "The animal didn't cross the street because it was too wide.": "sie",
    "The animal didn't cross the street because it was too narrow.": "sie",
}
"""The best known sentences of their kind, never trained on, and what “it” is in German (das Tier, die Straße)."""


@dataclass(frozen=True)
class PronounScores:
    """How often the pronouns of a translation are exactly those of the reference, in order."""

    cases: int
    right: float  #: share of the sentences (0 to 1)
    pairs: int
    both_right: float  #: share of minimal pairs of which both sentences are right


@dataclass(frozen=True)
class HeldOutScores:
    """Scores on each kind of thing that was held out, and what becomes of the best known sentences."""

    kinds: dict[HeldOut, PronounScores]
    best_known: dict[str, str]


def score_held_out(translate: Translate, part: HeldOutPart, pairs: int) -> HeldOutScores:
    """Score new frames, new combinations of noun and property, and new nouns, each by `pairs` minimal pairs."""
    kinds = {kind: score_twins(held_out_twins(kind, part, pairs, seed=1), translate) for kind in HELD_OUT}
    translations = translate(list(BEST_KNOWN))
    return HeldOutScores(kinds, dict(zip(BEST_KNOWN, translations, strict=True)))


def score_twins(twins: Sequence[tuple[PronounPair, PronounPair]], translate: Translate) -> PronounScores:
    """Translate both sentences of every pair and compare the pronouns with the reference's.

    A translation that names a noun otherwise than the reference, in another gender, counts as wrong even where its
    pronoun agrees with it.
    """
    pairs = [pair for both in twins for pair in both]
    outputs = translate([pair.source for pair in pairs])
    right = [pronouns_in(out) == pronouns_in(pair.target) for out, pair in zip(outputs, pairs, strict=True)]
    both = [first and second for first, second in zip(right[::2], right[1::2], strict=True)]
    return PronounScores(
        cases=len(right),
        right=round(sum(right) / len(right), 4),
        pairs=len(both),
        both_right=round(sum(both) / len(both), 4),
    )


_REPEATED_LETTERS: Final = re.compile(r"([^\W\d_]{3,})\1", re.IGNORECASE)
_REPEATED_WORD: Final = re.compile(r"\b(\w+)(?:\W+\1\b){2}", re.IGNORECASE)
#: German words that repeat themselves by right.
_DOUBLED: Final = ("bonbon", "purpur", "kuckuc", "barbar", "berber", "couscous", "tamtam", "wauwau")


@dataclass(frozen=True)
class CopyingScores:
    """How often what is to be copied stands in the translation letter by letter."""

    sentences: int
    copied: float  #: share of sentences in which all of it does (0 to 1)
    kinds: dict[CopiedKind, float]  #: share of the made-up words, names and numbers, each for itself
    babbling: int  #: how many translations repeat themselves
    failures: tuple[tuple[str, str], ...]  #: each sentence that was not copied or babbles, with its translation


def score_copying(cases: Sequence[CopyingCase], translate: Translate) -> CopyingScores:
    """Translate every case and look for what is to be copied."""
    outputs = translate([case.pair.source for case in cases])
    kept = [
        {kind: is_copied(text, output) for kind, text in case.to_copy.items()}
        for case, output in zip(cases, outputs, strict=True)
    ]
    babbles = [is_babble(output, case.pair.source) for case, output in zip(cases, outputs, strict=True)]
    by_kind: dict[CopiedKind, list[bool]] = {}
    for of_case in kept:
        for kind, is_kept in of_case.items():
            by_kind.setdefault(kind, []).append(is_kept)
    return CopyingScores(
        sentences=len(cases),
        copied=round(sum(all(of_case.values()) for of_case in kept) / len(cases), 4),
        kinds={kind: round(sum(found) / len(found), 4) for kind, found in sorted(by_kind.items())},
        babbling=sum(babbles),
        failures=tuple(
            (case.pair.source, output)
            for case, output, of_case, babble in zip(cases, outputs, kept, babbles, strict=True)
            if babble or not all(of_case.values())
        ),
    )


def is_copied(text: str, output: str) -> bool:
    """Whether a text stands in the output as a word of its own; a name may have the genitive's s."""
    genitive = "" if text.isdecimal() else "s?"
    return re.search(rf"(?<!\w){re.escape(text)}{genitive}(?!\w)", output) is not None


def is_babble(output: str, source: str) -> bool:
    """Whether a translation repeats itself where its source does not.

    That is three letters or more twice in a row within a word (“Deckedecke”), or one word three times in a row.
    """
    in_words = any(
        found[0].lower() not in source.lower() and not found[0].lower().startswith(_DOUBLED)
        for found in _REPEATED_LETTERS.finditer(output)
    )
    return in_words or (_REPEATED_WORD.search(output) is not None and _REPEATED_WORD.search(source) is None)
