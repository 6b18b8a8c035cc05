"""Text in labels is not Markdown; files that people give or take; what an address cannot carry."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from model.errors import DataError
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.text.messages import language, speaking
from viz.ui import downloads
from viz.ui.controls import plain, with_code
from viz.ui.present import MAX_LENGTH, picture


@pytest.mark.parametrize("text", ["![x](https://evil.example/a.png)", "**b**", ":red[x]", "$x$", "`x`", "# x", "<b>"])
def test_plain_text_holds_no_unescaped_markdown(text: str) -> None:
    escaped = plain(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text
    for i, character in enumerate(escaped):
        if character != "\\" and character.isascii() and not character.isalnum() and character != " ":
            assert escaped[i - 1] == "\\"


def test_what_is_to_be_typed_is_code_and_the_rest_of_a_message_plain() -> None:
    assert with_code("Run `pip install a_b` *now* (a`b)") == r"Run `pip install a_b` \*now\* \(a\`b\)"


@pytest.mark.parametrize(
    "text", ["see https://evil.example/a", "HTTP://evil.example", "www.evil.example", "a@evil.example"]
)
def test_an_address_is_not_what_markdown_makes_a_link_of(text: str) -> None:
    shown = plain(text).replace("\\", "")
    # The expressions of mdast-util-gfm-autolink-literal, which looks at a text after its backslashes are gone.
    assert not re.search(r"(https?://|www(?=\.))([-.\w]+)", shown, re.IGNORECASE | re.ASCII)
    assert not re.search(r"([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)", shown, re.ASCII)
    assert shown.replace("\u2060", "") == text


MEGABYTE = 1024**2


def file(size: int) -> Any:
    """A file of so many bytes, as Streamlit hands it on."""
    return SimpleNamespace(name="a.txt", size=size, getvalue=lambda: b"content")


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_refused() -> None:
    assert downloads.content(file(5 * MEGABYTE)) == b"content"
    with pytest.raises(DataError, match=r"a\.txt is 5\.0 MB; the limit is 5 MB"):
        downloads.content(file(5 * MEGABYTE + 1))
    with pytest.raises(DataError, match="the limit is 1 MB"):
        downloads.content(file(2 * MEGABYTE), megabytes=1)


@pytest.mark.parametrize(("server", "said"), [(200, [5, 8, 1]), (3, [3, 3, 1]), (1, [1, 1, 1])])
def test_no_field_says_more_than_the_server_lets_through(
    server: int, said: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "get_option", {"server.maxUploadSize": server}.__getitem__)
    assert [downloads.most(), downloads.most(8), downloads.most(1)] == said
    with pytest.raises(DataError, match=f"the limit is {said[1]} MB"):
        downloads.content(file(said[1] * MEGABYTE + 1), megabytes=8)


def test_a_file_is_made_in_the_language_of_the_page_that_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Callable[[], bytes]] = []

    def button(label: str, data: Callable[[], bytes], *rest: object, **given: object) -> None:
        offered.append(data)

    monkeypatch.setattr(st, "download_button", button)
    with speaking("zh"):
        downloads.show_offer("Page", "all of it", lambda: language().encode(), "page.html")
    assert language() == "en"
    assert offered[0]() == b"zh"


def test_a_link_says_what_of_the_view_it_cannot_carry(chosen: Selection) -> None:
    given = chosen.changed(text="She read.", given_file="0123")
    # A picture that another model was given is not seen.
    assert downloads.link_needs(given) == ({"checkpoint": "en-de", "text": "She read."}, "")
    assert downloads.link_needs(given.changed(text="x" * MAX_TEXT_IN_URL))[1] == ""
    always, lacking = downloads.link_needs(given.changed(text="x" * (MAX_TEXT_IN_URL + 1)))
    assert always == {"checkpoint": "en-de"}
    assert "too long" in lacking


def test_every_address_that_fits_a_screen_has_a_code_of_its_own() -> None:
    codes = {picture(f"http://a.b/?layer={layer}") for layer in range(3)}
    assert len(codes) == 3
    assert all(code.startswith("data:image/svg+xml") for code in codes)
    assert picture("x" * MAX_LENGTH)
    assert picture("x")
    assert picture("x" * (MAX_LENGTH + 1)) == ""
    assert picture("") == ""
    assert picture("http://a.b/?text=Grüße 😀 <script>")
