"""Words of two texts compared."""

import pytest

from model.analysis.word_diff import WordSpan, word_diff


def test_words_are_compared_in_reading_order() -> None:
    assert word_diff("Die Katze schläft heute .", "Eine Katze schläft .") == (
        WordSpan((" Die",), (" Eine",)),
        WordSpan((" Katze", " schläft"), (" Katze", " schläft")),
        WordSpan((" heute",), ()),
        WordSpan((" .",), (" .",)),
    )
    assert word_diff("", "neu") == (WordSpan((), (" neu",)),)
    assert word_diff("", " ") == ()


def test_a_word_is_the_same_with_and_without_the_punctuation_beside_it() -> None:
    assert [span for span in word_diff("die Straße nicht, weil", "die Straße, weil") if not span.is_same] == [
        WordSpan((" nicht",), ())
    ]
    assert [span for span in word_diff("„Das war’s!“", "Das war’s.") if not span.is_same] == [
        WordSpan((" „",), ()),
        WordSpan(("!", "“"), (".",)),
    ]
    # A space before a mark is no change of words.
    assert all(span.is_same for span in word_diff("Ja , gut", "Ja, gut"))


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    (before, change, after) = word_diff("因为它太累了。", "因为他太累了。")
    assert change == WordSpan(("它",), ("他",))
    assert before.is_same
    assert after.is_same
    # A vowel sign belongs to its word.
    assert word_diff("", "हिन्दी।") == (WordSpan((), (" हिन्दी", "।")),)


@pytest.mark.parametrize("text", ["", "Das ist (fast) alles …", "„Nie!“, rief er.", "他说：“好”。 OK"])
def test_the_words_of_a_text_together_are_the_text(text: str) -> None:
    assert "".join(span.second_text for span in word_diff("Das ist alles, rief er.", text)).strip() == text
    assert "".join(span.first_text for span in word_diff(text, "Das ist alles, rief er.")).strip() == text
