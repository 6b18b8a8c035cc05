"""The sets of a training that grammars of our own make: pronouns, a dictionary's nouns, words to be copied.

Of any set a share can come once more as people type it: lower case or capitals, no full stop, “did not” for “didn't”, a
slip.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from model.errors import ConfigError
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Example, encode_pairs, link_in
from model.training.copying import copying_pairs
from model.training.dictionary_lexicon import read_nouns, with_dictionary
from model.training.lexicon import NOUNS
from model.training.noun_genders import NounGenders
from model.training.noun_sentences import noun_pairs
from model.training.pronouns import training_pairs

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
PRONOUN_PAIRS, NOUN_PAIRS, COPYING_PAIRS = 480_000, 300_000, 60_000


def check_shares(shares: Mapping[str, float]) -> None:
    """Check the shares of made sets. Raises a ConfigError if they leave nothing for the data."""
    if (total := sum(shares.values())) >= 1:
        message = "The shares of {shares} add up to {total:g}; leave some for the data."
        raise ConfigError(message, shares=", ".join(shares), total=total)


@dataclass(frozen=True, slots=True)
class MadeSets:
    """Which sets are made, and from what."""

    shares: Mapping[str, float]  #: "pronouns", "nouns" or "copying" → its share of all tokens
    dictionary: Path | None  #: the folder with the nouns; None where there are none
    typed: float  #: share of pairs that come once more as people type them
    seed: int  #: of what is drawn
    scored: frozenset[str]  #: English sentences that are never made, for translations of them are scored
    linked: bool = False  #: whether the examples of the pronoun curriculum say what “it” stands for, to teach a head
    genders: NounGenders | None = None  #: finds the genders of nouns for the examples; None for examples without them

    def examples(self, others: Sequence[Sequence[Example]], tokenizer: Tokenizer) -> dict[str, list[Example]]:
        """Each set by its name, weighted to its share of all tokens.

        Raises as `check_shares`, and a DataError if the dictionary is missing or damaged.
        """
        check_shares(self.shares)
        total = sum(self.shares.values())
        all_tokens = sum(example.num_tokens * example.weight for example in chain(*others)) / (1 - total)
        made = {}
        for name, share in self.shares.items():
            if not share:
                continue
            if name == "pronouns":
                examples = self._pronoun_examples(tokenizer)
            else:
                examples = encode_with_variants(
                    self._pairs(name), tokenizer, self.typed, self.seed, 1.0, genders=self.genders
                )
            weight = share * all_tokens / sum(example.num_tokens for example in examples)
            made[name] = [example._replace(weight=weight) for example in examples]
        return made

    def _pronoun_examples(self, tokenizer: Tokenizer) -> list[Example]:
        nouns = NOUNS if self.dictionary is None else with_dictionary(read_nouns(self.dictionary))
        drawn = training_pairs(PRONOUN_PAIRS, seed=self.seed, nouns=nouns)
        examples = encode_with_variants(
            [each.pair for each in drawn], tokenizer, self.typed, self.seed, 1.0, genders=self.genders
        )
        if not self.linked:
            return examples
        antecedents = {tuple(tokenizer.encode(each.source)): each for each in drawn}
        linked = []
        for example in examples:
            each = antecedents.get(tuple(example.source))
            link = None if each is None else link_in(each.source, each.antecedent.english, tokenizer)
            linked.append(example._replace(link=link))
        return linked

    def _pairs(self, name: str) -> list[Pair]:
        if name == "copying":
            return list(copying_pairs(COPYING_PAIRS, seed=self.seed, apart=self.scored))
        assert self.dictionary is not None, "nouns come from a dictionary"
        return list(noun_pairs(read_nouns(self.dictionary), NOUN_PAIRS, seed=self.seed, apart=self.scored))


def encode_with_variants(
    pairs: Sequence[Pair],
    tokenizer: Tokenizer,
    typed: float,
    seed: int,
    weight: float,
    cuts: int = 0,
    genders: NounGenders | None = None,
) -> list[Example]:
    """The pairs, and a share of them once more as people type them; `cuts` and `genders` as in `encode_pairs`."""
    every = [*pairs, *typed_variants(pairs, typed, seed=seed)]
    return encode_pairs(every, tokenizer, MAX_TRAINING_TOKENS, weight=weight, cuts=cuts, seed=seed, genders=genders)
