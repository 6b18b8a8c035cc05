"""The lexicon of the curriculum: one translation of each noun, and training and test share no words."""

import itertools
import random

from model.training.compositions import compositions
from model.training.lexicon import DRAWN_FRAMES, FRAMES, NOUNS
from tests.model.training.curriculum import words_around_slots

BY_NAME = {noun.english: noun for nouns in NOUNS.values() for noun in nouns}


def test_a_noun_has_one_translation_wherever_it_is_listed() -> None:
    for nouns in NOUNS.values():
        for noun in nouns:
            assert noun == BY_NAME[noun.english]


def test_no_test_frame_has_the_words_of_a_training_frame() -> None:
    trained = {words_around_slots(frame.english) for frame in FRAMES["train"]}
    trained |= {
        words_around_slots(one.frame.english) for one in itertools.islice(compositions(random.Random(1)), 20_000)
    }
    assert len(trained) > 1_000
    held_out = (*FRAMES["test"], *DRAWN_FRAMES["test"])
    assert not trained & {words_around_slots(frame.english) for frame in held_out}
