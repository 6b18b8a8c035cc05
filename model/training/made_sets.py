"""The sets of a training that grammars of our own make: pronouns, a dictionary's nouns, words to be copied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from model.errors import ConfigError
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.augmentation import typed_variants
from model.training.batches import Example, encode_pairs, link_in
from model.training.copying import copying_pairs
from model.training.dictionary_lexicon import read_nouns, with_dictionary
from model.training.lexicon import NOUNS
from model.training.noun_sentences import noun_pairs
from model.training.pronouns import training_pairs

MAX_TRAINING_TOKENS: Final = 100
PRONOUN_PAIRS, NOUN_PAIRS, COPYING_PAIRS = 480_000, 300_000, 60_000


@dataclass(frozen=True, slots=True)
class MadeSets:
    """Which sets are made, and from what.

    Attributes:
        shares: "pronouns", "nouns" or "copying" → its share of all tokens.
        dictionary: the folder with the nouns; None where there are none.
        typed: share of pairs that come once more as people type them.
        seed: of what is drawn.
        scored: English sentences that are never made, for translations of them are scored.
        linked: whether the examples of the pronoun curriculum say what “it” stands for, to teach a head.
    """

    shares: Mapping[str, float]
    dictionary: Path | None
    typed: float
    seed: int
    scored: frozenset[str]
    linked: bool = False

    def examples(self, others: Sequence[Sequence[Example]], tokenizer: Tokenizer) -> dict[str, list[Example]]:
        """Each set by its name, weighted so that it is its share of all tokens.

        Raises:
            ConfigError: the shares leave nothing for the data.
            DataError: the dictionary is missing or damaged.
        """
        total = sum(self.shares.values())
        if total >= 1:
            raise ConfigError(
                "The shares of {shares} add up to {total:g}; leave some for the data.",
                shares=", ".join(self.shares),
                total=total,
            )
        all_tokens = sum(example.num_tokens * example.weight for example in chain(*others)) / (1 - total)
        made = {}
        for name, share in self.shares.items():
            if not share:
                continue
            if name == "pronouns":
                examples = self._pronoun_examples(tokenizer)
            else:
                examples = encode_with_variants(self._pairs(name), tokenizer, self.typed, self.seed, 1.0)
            weight = share * all_tokens / sum(example.num_tokens for example in examples)
            made[name] = [example._replace(weight=weight) for example in examples]
        return made

    def _pronoun_examples(self, tokenizer: Tokenizer) -> list[Example]:
        nouns = NOUNS if self.dictionary is None else with_dictionary(read_nouns(self.dictionary))
        drawn = training_pairs(PRONOUN_PAIRS, seed=self.seed, nouns=nouns)
        examples = encode_with_variants([each.pair for each in drawn], tokenizer, self.typed, self.seed, 1.0)
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
    pairs: Sequence[Pair], tokenizer: Tokenizer, typed: float, seed: int, weight: float, cuts: int = 0
) -> list[Example]:
    """The pairs, and a share of them once more as people type them; `cuts` as in `encode_pairs`."""
    variants = list(typed_variants(pairs, typed, seed=seed))
    return encode_pairs([*pairs, *variants], tokenizer, MAX_TRAINING_TOKENS, weight=weight, cuts=cuts, seed=seed)
