"""The example sentences."""

from viz.selection.examples import EXAMPLES


def test_the_animal_and_the_street_come_first() -> None:
    assert EXAMPLES[0].text.endswith("too tired.")
    assert EXAMPLES[0].twin.endswith("too wide.")


def test_every_example_differs_from_its_twin_in_a_few_words_only() -> None:
    for example in EXAMPLES:
        words, others = example.text.split(), example.twin.split()
        assert 1 <= sum(word != other for word, other in zip(words, others, strict=True)) <= 2
