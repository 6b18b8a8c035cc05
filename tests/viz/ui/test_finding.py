"""A page opens on what was found until a person chooses a head, and the lines of Python say what was chosen."""

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from viz.access import models
from viz.access.findings import Finding
from viz.selection import state
from viz.selection.catalogue import OWN_ROOT
from viz.selection.choices import ModelChoice
from viz.selection.selection import Selection
from viz.ui import finding, snippets

TRACE: Any = None


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        ({}, (4, 7)), ({"token": 3}, (3, None)), ({"key_token": 2}, (None, 2)), ({"head_chosen": True}, (None, None)),
        ({"token": 3, "key_token": 2, "head_chosen": True}, (3, 2)),
    ],
)  # fmt: skip
def test_the_cell_that_was_found_is_kept_until_a_person_chooses_a_cell_or_a_head(
    chosen: dict[str, object], kept: tuple[int | None, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    link: Any = SimpleNamespace(row=4, key=7)
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(finding, "of", lambda trace: Finding("decoder.cross", 1, 2, link))
    state.put(Selection().changed(**chosen))
    assert finding.kept(TRACE) == kept


@pytest.mark.parametrize(("head", "is_said"), [((1, 2), True), ((1, 1), False), ((0, 2), False)])
def test_what_was_found_is_said_while_its_head_is_open(
    head: tuple[int, int], is_said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(finding, "of", lambda trace: Finding("decoder.cross", 1, 2))
    monkeypatch.setattr(finding, "sentence", lambda found: "a **b** c")
    state.put(Selection().changed(site="decoder.cross", layer=head[0], head=head[1]))
    assert finding.parts(TRACE) == (["a ", "b", " c"] if is_said else [])


def test_the_lines_of_python_name_a_device_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "folder", lambda choice: OWN_ROOT / "en-de")
    assert snippets.opened(ModelChoice("en-de")) == "headlight.open('en-de')"
    assert snippets.opened(ModelChoice("en-de", device="cpu")) == "headlight.open('en-de', device='cpu')"
