"""Vary sentences as people type them: lower case or capitals, no full stop, “did not” for “didn't”, a slip."""

import random
import re
from collections.abc import Iterator, Sequence

from model.pairs import Pair

AUXILIARIES = "did|does|do|is|are|was|were|has|have|had|could|would|should|must|need"
CONTRACTED = re.compile(rf"\b({AUXILIARIES})n['’]t\b", re.IGNORECASE)
WRITTEN_OUT = re.compile(rf"\b({AUXILIARIES}) not\b", re.IGNORECASE)


def lower_case(pair: Pair) -> Pair:
    """The English without capitals; the German keeps its own."""
    return Pair(pair.source.lower(), pair.target)


def without_stop(pair: Pair) -> Pair:
    """Both sides without their full stop, if both end with one."""
    if not (pair.source.endswith(".") and pair.target.endswith(".")) or pair.source.endswith(".."):
        return pair
    return Pair(pair.source[:-1], pair.target[:-1])


def other_negation(pair: Pair) -> Pair:
    """“did not” for “didn't” and the other way round, of every auxiliary verb that can do both."""
    if CONTRACTED.search(pair.source):
        return Pair(CONTRACTED.sub(r"\1 not", pair.source), pair.target)
    return Pair(WRITTEN_OUT.sub(r"\1n't", pair.source), pair.target)


def capitals(pair: Pair) -> Pair:
    """The English in capitals; the German keeps its own."""
    return Pair(pair.source.upper(), pair.target)


def mistyped(pair: Pair, rng: random.Random) -> Pair:
    """The English with a slip after a word's first letter: two letters swapped, one left out or one twice."""
    words = list(re.finditer(r"[a-z]{4,}", pair.source))
    if not words:
        return pair
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end() - 1)
    before, first, second, after = pair.source[:at], pair.source[at], pair.source[at + 1], pair.source[at + 2 :]
    slipped = rng.choice((second + first, second, first + first + second))
    return Pair(before + slipped + after, pair.target)


CHANGES = (
    (lower_case,),
    (without_stop,),
    (other_negation,),
    (lower_case, without_stop),
    (lower_case, other_negation),
    (lower_case, without_stop, other_negation),
    (capitals,),
    (capitals, without_stop),
)
#: Share of the changed pairs that have a slip of the keyboard as well.
SLIPS = 0.25


def typed_variants(pairs: Sequence[Pair], share: float, *, seed: int) -> Iterator[Pair]:
    """Changed copies of a share of the pairs (0 to 1), each changed in one way or in several together.

    A change that leaves a pair as it is (no stop, no negation) yields nothing for it.
    """
    rng = random.Random(f"typed-{seed}")
    for pair in pairs:
        if rng.random() >= share:
            continue
        changed = pair
        for change in rng.choice(CHANGES):
            changed = change(changed)
        if rng.random() < SLIPS:
            changed = mistyped(changed, rng)
        if changed != pair:
            yield changed
