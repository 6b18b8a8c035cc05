"""The sets of a training that grammars of our own make: pronouns, a dictionary's nouns, words to be copied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Example, link_in
from model.training.copying import copying_pairs
from model.training.dictionary_lexicon import read_nouns, with_dictionary
from model.training.lexicon import NOUNS
from model.training.noun_genders import NounGenders
from model.training.noun_sentences import noun_pairs
from model.training.pronouns import training_pairs
from model.training.typed_variants import check_shares, encode_with_variants

PRONOUN_PAIRS: Final = 480_000
NOUN_PAIRS: Final = 300_000
COPYING_PAIRS: Final = 60_000


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
