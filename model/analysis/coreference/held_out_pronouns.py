"""Score the pronouns of translations on minimal pairs that were held out from training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """How often the pronouns of a translation are exactly those of the reference, in order.

    Attributes:
        right: share of the sentences (0 to 1).
        both_right: share of minimal pairs of which both sentences are right.
    """

    cases: int
    right: float
    pairs: int
    both_right: float


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
