"""A file is made when its button is pressed, by nobody's page run, and still in the language of who is offered it."""

from collections.abc import Callable

import pytest
import streamlit as st

from viz.core.messages import language, speaking
from viz.ui import downloads


def test_a_file_is_made_in_the_language_of_the_page_that_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Callable[[], bytes]] = []

    class Column:
        def download_button(self, label: str, data: Callable[[], bytes], *rest: object, **given: object) -> None:
            offered.append(data)

        def caption(self, text: str) -> None:
            pass

    monkeypatch.setattr(st, "columns", lambda *sizes, **given: (Column(), Column()))
    offer = downloads.Offer("Page", "all of it", lambda: language().encode(), "page.html", "text/html", 2)
    with speaking("zh"):
        downloads.show_offer(offer)
    assert language() == "en"
    assert offered[0]() == b"zh"
