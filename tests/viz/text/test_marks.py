"""Which words of a sentence are marked."""

import pytest

from tests.viz.pages.coreference.side_by_side.opening import ANIMAL, IT, STREET
from viz.pages.coreference.data import marked_case
from viz.selection.examples import EXAMPLES
from viz.text.marks import Marks, guessed, last_word, word_spans

FIRST, SECOND = EXAMPLES[0].text, EXAMPLES[0].twin


@pytest.mark.parametrize(
    ("text", "swapped", "positions"),
    [
        (FIRST, False, (IT, ANIMAL, STREET)),
        (SECOND, True, (IT, STREET, ANIMAL)),
        ("It's late.", False, (0, None, None)),
        ("Her dog ran.", False, (0, None, None)),
        ("The cat saw a mouse.", False, (None, None, None)),
        ("😀 !", False, (None, None, None)),
    ],
)
def test_marks_are_guessed_from_articles_before_the_pronoun(
    text: str, swapped: bool, positions: tuple[int | None, ...]
) -> None:
    assert guessed(text, swapped=swapped).positions == positions


def test_words_leave_signs_out_and_split_what_is_joined_to_a_pronoun() -> None:
    text = "It's “the dog”, isn't it?"
    assert [text[slice(*span)] for span in word_spans(text)] == ["It", "s", "the", "dog", "isn't", "it"]
    assert last_word(text, (text.index("the"), text.index("dog") + 3)) == 3
    assert last_word(text, (text.index("dog"), text.index("dog") + 3)) == 3
    assert last_word(text, (text.index("the"), text.index("dog") + 2)) == 2
    assert last_word(text, (2, 3)) is None


def test_a_case_needs_three_words() -> None:
    assert marked_case(FIRST, Marks(IT, ANIMAL, None)) is None
    assert marked_case(FIRST, Marks(IT, ANIMAL, IT)) is None
    case = marked_case(FIRST, Marks(IT, ANIMAL, STREET))
    assert case is not None
    assert [FIRST[slice(*span)] for span in case.spans] == ["it", "animal", "street"]
