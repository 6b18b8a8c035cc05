"""Text in labels of controls is not read as Markdown."""

import pytest

from viz.ui.controls import plain


@pytest.mark.parametrize("text", ["![x](https://evil.example/a.png)", "**b**", ":red[x]", "$x$", "`x`", "# x", "<b>"])
def test_plain_text_holds_no_unescaped_markdown(text: str) -> None:
    escaped = plain(text)
    assert escaped.replace("\\", "") == text
    for i, character in enumerate(escaped):
        if character != "\\" and character.isascii() and not character.isalnum() and character != " ":
            assert escaped[i - 1] == "\\"


def test_letters_of_any_script_stay_as_they_are() -> None:
    assert plain("Grüße שלום 你好 x1") == "Grüße שלום 你好 x1"
