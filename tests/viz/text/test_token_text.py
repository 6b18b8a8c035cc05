"""Tokens as text that can be seen and reorders nothing."""

import pytest

from viz.text.token_text import display_token, display_word


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("▁animal", "▁animal"),
        ("</s>", "</s>"),
        ("<0xF0>", "<0xF0>"),
        ("😀", "😀"),
        ("שלום", "שלום"),
        ("é", "é"),
        ("\x00", "␀"),
        ("a\tb\n", "a␉b␊"),
        ("\x7f", "␡"),
        ("\x85", "\\u0085"),
        ("a b", "a␣b"),
        ("\u00a0", "\\u00a0"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\u200b", "\\u200b"),
        ("\ufeff", "\\ufeff"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\ue000", "\\ue000"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164", "\\u3164"),
        ("\u0301", "◌\u0301"),
        ("\ufe0f", "\\ufe0f"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("", "∅"),
    ],
)
def test_every_character_of_a_token_is_visible_and_none_reorders_the_text(token: str, shown: str) -> None:
    assert display_token(token) == shown


def test_no_shown_token_holds_a_control_or_bidirectional_character() -> None:
    for code in [*range(0x3000), 0xFEFF, 0xE0001]:
        shown = display_token(chr(code))
        assert shown.strip(), hex(code)
        assert not any(
            mark in shown for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        )
        assert all(ord(character) >= 0x20 for character in shown)


def test_of_a_rows_name_both_tokens_are_shown_as_tokens_are() -> None:
    assert display_token("▁weil → a b") == "▁weil → a␣b"
    assert display_token(" → ") == "␣→␣"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("didn't", "didn't"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("a\x07b", "a␇b"),
        ("a\ud800", "a\\ud800"),
        ("\u200b", "\\u200b"),
        ("", "∅"),
    ],
)
def test_a_word_is_shown_as_typed_unless_nothing_of_it_would_be_seen(word: str, shown: str) -> None:
    assert display_word(word) == shown
