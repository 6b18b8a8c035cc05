"""Text in labels of controls is not read as Markdown."""

import re

import pytest

from viz.ui.controls import plain


@pytest.mark.parametrize("text", ["![x](https://evil.example/a.png)", "**b**", ":red[x]", "$x$", "`x`", "# x", "<b>"])
def test_plain_text_holds_no_unescaped_markdown(text: str) -> None:
    escaped = plain(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text
    for i, character in enumerate(escaped):
        if character != "\\" and character.isascii() and not character.isalnum() and character != " ":
            assert escaped[i - 1] == "\\"


@pytest.mark.parametrize(
    "text", ["see https://evil.example/a", "HTTP://evil.example", "www.evil.example", "a@evil.example"]
)
def test_an_address_is_not_what_markdown_makes_a_link_of(text: str) -> None:
    shown = plain(text).replace("\\", "")
    # The expressions of mdast-util-gfm-autolink-literal, which looks at a text after its backslashes are gone.
    assert not re.search(r"(https?://|www(?=\.))([-.\w]+)", shown, re.IGNORECASE | re.ASCII)
    assert not re.search(r"([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)", shown, re.ASCII)
    assert shown.replace("\u2060", "") == text


def test_half_a_character_becomes_one_that_can_be_sent() -> None:
    assert plain("a\ud800b") == "a\\?b"


def test_letters_of_any_script_stay_as_they_are() -> None:
    assert plain("Grüße שלום 你好 x1") == "Grüße שלום 你好 x1"
