"""What is on the left of every page: which tabs and sentences can be chosen, and what is said of model and example."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy, opened
from viz.selection import state
from viz.selection.selection import FIELDS, PAGES, Selection
from viz.ui import sidebar


def test_only_chosen_tabs_are_shown_and_with_them_their_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    state.put(Selection())
    fields = [page.tab for page in PAGES.values() if page.tab]
    assert all(map(sidebar.is_shown, fields))
    code, (page, label) = list(sidebar.codes().items())[1]
    state.change(shown_tabs=(code, "no-such-tab"))
    assert [field for field in fields if sidebar.is_shown(field)] == [page.tab]
    assert [each for each in FIELDS[page.tab].options if sidebar.is_shown(page.tab, each)] == [label]


def test_sentences_of_before_are_a_click_away_cut_at_a_length(app: AppTest) -> None:
    begin = 3 * "The dog was tired. "
    fits, cut = f"{begin}Tom was late.", f"{begin}Tom was late now."
    assert len(fits) == 70
    opened(app, text=fits)
    for text in (cut, "Tom was late."):
        app.text_area(key="text").set_value(text).run()
    before = {
        button.label.replace("\\", ""): button
        for button in healthy(app).button
        if str(button.key).startswith("past-sentence-")
    }
    assert {fits, cut[:70] + " …"} <= before.keys()
    before[fits].click().run()
    assert app.text_area(key="text").value == fits


def test_a_device_that_a_link_chose_is_offered_beside_the_others(app: AppTest) -> None:
    opened(app, device="cpu")
    (chosen,) = (group for group in app.button_group if str(group.key).startswith("device"))
    assert {"CPU", "Automatic"} <= set(chosen.options)
