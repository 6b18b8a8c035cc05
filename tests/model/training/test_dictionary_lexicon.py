"""A dictionary's nouns in the pronoun curriculum: which enter, and that nothing held out does."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.tokenizer import Tokenizer
from model.training.batches import Example
from model.training.dictionary_lexicon import NOUNS_FILE as FILE
from model.training.dictionary_lexicon import DictionaryNoun, with_dictionary
from model.training.lexicon import NOUNS, Noun
from model.training.made_sets import MadeSets

SEA_LION = DictionaryNoun("sea lion", "Seelöwe", "m", "sea lions", "Seelöwen", 1.3)
PARKA = DictionaryNoun("parka", "Parka", "m", "parkas", "Parkas", 9.0)
ATTENTION = DictionaryNoun("attention", "Aufmerksamkeit", "f", "attentions", "Aufmerksamkeiten", 9.0)


def test_listed_nouns_enter_their_kinds_with_the_dictionarys_german_after_those_written_by_hand() -> None:
    widened = with_dictionary([SEA_LION, PARKA, ATTENTION])
    assert widened["animal"] == (*NOUNS["animal"], Noun("sea lion", "Seelöwe", "Seelöwen", "m", head="lion"))
    assert widened["clothing"] == (*NOUNS["clothing"], Noun("parka", "Parka", "Parka", "m"))
    assert {kind for kind in NOUNS if widened[kind] != NOUNS[kind]} == {"animal", "clothing"}


def test_with_a_dictionary_pronoun_sentences_have_its_nouns(
    tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.training.made_sets.PRONOUN_PAIRS", 2_000)
    (tmp_path / FILE).write_bytes(lzma.compress(b"parka\tParka\tm\tparkas\tParkas\t3.1\t9.5\n"))
    others = [[Example([5, 6, 7], [8, 9], 2.0)] * 40]

    def sources(dictionary: Path | None) -> Iterator[str]:
        made = MadeSets({"pronouns": 0.2}, dictionary, 0.0, 1, frozenset()).examples(others, tokenizer)
        return (tokenizer.decode(example.source) for example in made["pronouns"])

    assert any(" parka" in source for source in sources(tmp_path))
    assert not any(" parka" in source for source in sources(None))
