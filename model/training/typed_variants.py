"""Sentence pairs as people type them: in lower case or capitals, without full stop, with “did not” or a slip."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from model.errors import ConfigError
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Example, encode_pairs

if TYPE_CHECKING:
    from model.training.noun_genders import NounGenders

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


MAX_TRAINING_TOKENS: Final = 100


def check_shares(shares: Mapping[str, float]) -> None:
    """Check the shares of made sets. Raises a ConfigError if they leave nothing for the data."""
    if (total := sum(shares.values())) >= 1:
        message = "The shares of {shares} add up to {total:g}; leave some for the data."
        raise ConfigError(message, shares=", ".join(shares), total=total)


def encode_with_variants(
    pairs: Sequence[Pair],
    tokenizer: Tokenizer,
    typed: float,
    seed: int,
    weight: float,
    cuts: int = 0,
    genders: "NounGenders | None" = None,
) -> list[Example]:
    """The pairs, and a share of them once more as people type them; `cuts` and `genders` as in `encode_pairs`."""
    every = [*pairs, *typed_variants(pairs, typed, seed=seed)]
    return encode_pairs(every, tokenizer, MAX_TRAINING_TOKENS, weight=weight, cuts=cuts, seed=seed, genders=genders)
