"""Sentences and lists are joined as English joins them, and as Chinese does where that is read."""

from viz.text import messages
from viz.text.messages import said, speaking


def test_sentences_stand_a_space_apart_and_empty_ones_leave_none() -> None:
    assert messages.in_a_row(["One.", "", "Two.", "Three."]) == "One. Two. Three."


def test_nothing_joined_is_nothing() -> None:
    assert [join([]) for join in (messages.in_a_row, messages.with_commas, messages.with_or)] == [""] * 3


def test_lists_have_their_word_or_comma_between_two_members() -> None:
    assert messages.with_commas("abc") == "a, b, c"
    assert messages.with_and("ab") == "a and b"
    assert messages.clauses_with_and("ab") == "a and b"
    assert messages.with_or("ab") == "a or b"


def test_chinese_sentences_stand_without_a_space() -> None:
    with speaking("zh"):
        assert messages.in_a_row(["一。", "二。"]) == "一。二。"
        assert messages.with_commas("甲乙丙") == "甲、乙、丙"


def test_members_are_said_in_the_language_of_the_page() -> None:
    with speaking("zh"):
        assert messages.with_commas([said("Model"), "X"]).startswith("模型")
