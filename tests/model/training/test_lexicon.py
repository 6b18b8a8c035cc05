"""Nouns of the curriculum."""

from model.training.lexicon import NOUNS

BY_NAME = {noun.english: noun for nouns in NOUNS.values() for noun in nouns}


def test_a_noun_has_one_translation_wherever_it_is_listed() -> None:
    for nouns in NOUNS.values():
        for noun in nouns:
            assert noun == BY_NAME[noun.english]
