"""What can be done with any view."""

import pytest
import streamlit as st

from viz.selection import pins, state
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.ui import tools


def test_a_view_that_no_address_can_carry_is_not_pinned_and_the_collection_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    long = Selection().changed(checkpoint="en-de", text="x" * (MAX_TEXT_IN_URL + 1))
    # Without its text the view is the same as this one, which must not leave.
    kept = pins.encode([pins.pin_of(long, "attention", {"checkpoint": "en-de"})])
    monkeypatch.setattr(state, "current", lambda: long.changed(pins=kept))
    monkeypatch.setattr(state, "page", lambda: "")
    monkeypatch.setattr(state, "choose", lambda **choices: pytest.fail("the collection was changed"))
    monkeypatch.setattr(st, "toast", said.append)
    assert not tools._is_pinned()
    tools._pin()
    (sentence,) = said
    assert "cannot be pinned" in sentence
