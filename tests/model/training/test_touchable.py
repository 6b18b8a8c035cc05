"""Nouns of a dictionary that “it” can mean: which, and never one that is held out."""

import re

from model.training.dictionary_lexicon import DictionaryNoun
from model.training.lexicon import GENDERS, NOUNS, Noun
from model.training.noun_sentences import noun_pairs, touchable
from model.training.pronouns import part_of_noun


def noun(english: str, german: str, support: float = 9.0) -> DictionaryNoun:
    article, _, name = german.partition(" ")
    return DictionaryNoun(english, name, GENDERS[article], f"{english}s", name, support)


def held_out() -> list[Noun]:
    every = {noun for of_kind in NOUNS.values() for noun in of_kind}
    return sorted((noun for noun in every if part_of_noun(noun.english) != "train"), key=lambda noun: noun.english)


SPOON, GARDENER, FREEDOM = noun("spoon", "der Löffel"), noun("gardener", "der Gärtner"), noun("freedom", "die Freiheit")


def test_people_ideas_and_rare_words_are_no_it() -> None:
    rare = noun("anvil", "der Amboss", support=1.0)
    assert touchable([SPOON, GARDENER, FREEDOM, rare]) == [SPOON]


def test_who_is_a_person_by_one_of_both_words_is_no_it_but_a_neuter_is() -> None:
    by_english, by_german = noun("judge", "der Richter"), noun("smith", "der Fachmann")
    assert touchable([by_english, by_german]) == []
    ruler = noun("ruler", "das Lineal")
    assert touchable([ruler]) == [ruler]


def test_a_word_that_is_written_by_hand_keeps_its_meaning() -> None:
    assert touchable([noun("table", "die Tabelle")]) == []


def test_what_is_held_out_never_enters_by_itself_nor_in_a_compound() -> None:
    articles = {"m": "der", "f": "die", "n": "das"}
    themselves = [noun(one.english, f"{articles[one.gender]} {one.german}") for one in held_out()]
    longer = [noun(f"great {one.english}", f"{articles[one.gender]} Groß{one.german.lower()}") for one in held_out()]
    assert len(themselves) > 100
    assert touchable([*themselves, *longer]) == []


def test_it_has_the_gender_of_its_noun_in_every_sentence() -> None:
    lamp, boat = noun("lantern", "die Laterne"), noun("canoe", "das Kanu")
    pronouns = {"Löffel": "er|ihn|ihm", "Laterne": "sie|ihr", "Kanu": "es|ihm"}
    made = [pair for pair in noun_pairs([SPOON, lamp, boat], 3_000, seed=1) if re.search(r"\b(it|It)\b", pair.source)]
    about = [pair for pair in made if "It has to do" not in pair.source and "It does not work" not in pair.source]
    assert len(about) > 500
    for pair in about:
        (own,) = {forms for name, forms in pronouns.items() if name in pair.target}
        assert re.search(rf"\b({own})\b", pair.target, re.IGNORECASE), pair
    assert not any(re.search(r"\b[Nn]o (spoon|lantern|canoe)", pair.source) for pair in about)
