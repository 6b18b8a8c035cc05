"""A file is made when its button is pressed, by nobody's page run, and still in the language of who is offered it."""

from collections.abc import Callable

import pytest
import streamlit as st

from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.text.messages import language, speaking
from viz.ui import downloads


def test_a_file_is_made_in_the_language_of_the_page_that_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Callable[[], bytes]] = []

    def button(label: str, data: Callable[[], bytes], *rest: object, **given: object) -> None:
        offered.append(data)

    monkeypatch.setattr(st, "download_button", button)
    with speaking("zh"):
        downloads.show_offer("Page", "all of it", lambda: language().encode(), "page.html", 2)
    assert language() == "en"
    assert offered[0]() == b"zh"


def test_a_link_says_what_of_the_view_it_cannot_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.access.models.kind", lambda choice: "image" if choice.checkpoint == "vit" else "decoder")
    given = Selection().changed(checkpoint="gpt2", text="She read.", picture_digest="0123")
    # A picture that another model was given is not seen.
    assert downloads.link_needs(given) == ({"checkpoint": "gpt2", "text": "She read."}, "")
    always, lacking = downloads.link_needs(given.changed(checkpoint="vit", picture_digest="0123"))
    assert always == {"checkpoint": "vit"}
    assert "picture" in lacking
    always, lacking = downloads.link_needs(given.changed(text="x" * (MAX_TEXT_IN_URL + 1)))
    assert always == {"checkpoint": "gpt2"}
    assert "too long" in lacking
