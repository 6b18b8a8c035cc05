"""A dictionary's nouns in the pronoun curriculum: which enter, and that nothing held out does."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.tokenizer import Tokenizer
from model.training.batches import Example
from model.training.dictionary_lexicon import BY_HAND, HELD_OUT, DictionaryNoun, read_nouns, with_dictionary
from model.training.dictionary_lexicon import NOUNS_FILE as FILE
from model.training.lexicon import NOUNS, Noun, NounsByKind
from model.training.made_sets import MadeSets
from tests.paths import ROOT

DICTIONARY = ROOT.parent / "shared" / "data" / "en-de" / "dictionary"
SEA_LION = DictionaryNoun("sea lion", "Seelöwe", "m", "sea lions", "Seelöwen", 1.3)
PARKA = DictionaryNoun("parka", "Parka", "m", "parkas", "Parkas", 9.0)
ATTENTION = DictionaryNoun("attention", "Aufmerksamkeit", "f", "attentions", "Aufmerksamkeiten", 9.0)


def entering(nouns: NounsByKind) -> set[Noun]:
    return {noun for of_kind in nouns.values() for noun in of_kind} - set(BY_HAND.values())


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


@pytest.fixture(scope="module")
def widened() -> NounsByKind:
    if not DICTIONARY.exists():
        pytest.skip("needs the data beside the project")
    return with_dictionary(read_nouns(DICTIONARY))


def test_the_dictionary_brings_hundreds_of_nouns_and_none_that_is_held_out(widened: NounsByKind) -> None:
    added = entering(widened)
    assert len(added) > 800
    assert {noun.gender for noun in added} == {"m", "f", "n"}
    assert len({noun.english for noun in added}) == len({noun.german for noun in added}) == len(added)
    for noun in added:
        for held in HELD_OUT:
            assert not noun.english.lower().endswith(held.english.lower()), (noun, held)
            assert not noun.german.lower().endswith(held.german.lower()), (noun, held)
