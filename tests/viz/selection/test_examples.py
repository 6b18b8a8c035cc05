"""The example sentences."""

import pytest

from viz.selection.examples import EXAMPLES, examples_in, known_marks
from viz.text.marks import word_spans


def test_the_animal_and_the_street_come_first() -> None:
    assert EXAMPLES[0].text.endswith("too tired.")
    assert EXAMPLES[0].twin.endswith("too wide.")


def test_every_example_differs_from_its_twin_in_a_few_words_only() -> None:
    for example in EXAMPLES:
        words, others = example.text.split(), example.twin.split()
        assert 1 <= sum(word != other for word, other in zip(words, others, strict=True)) <= 2


def test_there_are_ten_examples_each_with_one_sentence_on_what_to_look_for() -> None:
    assert len({example.text for example in EXAMPLES}) == 10
    for example in EXAMPLES:
        assert len([sign for sign in example.look_for if sign in ".?!"]) == 1, example.look_for
        assert example.look_for[-1] in ".?"


def test_the_nouns_that_it_stands_for_stand_in_both_sentences() -> None:
    known = [example for example in EXAMPLES if example.stands_for is not None]
    assert known[0] is EXAMPLES[0]
    for example in known:
        for text in (example.text, example.twin):
            words = text.rstrip(".").split()
            assert words.count("it") == 1
            assert set(example.stands_for or ()) < set(words)


@pytest.mark.parametrize(("text", "noun"), [(EXAMPLES[0].text, "animal"), (EXAMPLES[0].twin, "street")])
def test_what_it_stands_for_is_known_in_an_example_and_in_its_twin(text: str, noun: str) -> None:
    marks, spans = known_marks(text), word_spans(text)
    assert marks is not None
    assert marks.antecedent is not None
    assert text[slice(*spans[marks.antecedent])] == noun
    assert known_marks("It is known of no other sentence.") is None


@pytest.mark.parametrize("language", ["de", "zh"])
def test_examples_in_other_languages_name_their_pronoun_and_what_it_stands_for(language: str) -> None:
    examples = examples_in(language)
    assert len({example.text for example in examples}) == len(examples) == 6
    for example in examples:
        assert example.text != example.twin
        for is_twin, text in enumerate((example.text, example.twin)):
            marks = known_marks(text)
            assert (marks is None) == (example.stands_for is None)
            if marks is not None and example.stands_for is not None:
                words = [text[slice(*span)] for span in word_spans(text)]
                found = [words[position] for position in marks.positions if position is not None]
                nouns = example.stands_for[::-1] if is_twin else example.stands_for
                assert found == [example.pronouns[is_twin], *nouns]


def test_a_language_without_examples_has_none_and_an_unknown_one_has_english() -> None:
    assert examples_in("fr") == ()
    assert examples_in("") == examples_in("en") == EXAMPLES
    assert examples_in("zh-Hans") == examples_in("zh")
