"""What travels between the lines and the page, and that neither undoes what the other has just been told."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from tests.viz.sent import caught, unpack
from viz.pages.attention.opened_head.lines_component import LinesData, LinesView, head_lines, read_view
from viz.pictures.payload import digest, encoded, pack

SHAPE = (3, 4, 5)


@pytest.fixture
def data() -> LinesData:
    values = np.random.default_rng(0).random(SHAPE, dtype=np.float32) * 2
    return LinesData(
        values=values,
        top=2.0,
        query_tokens=("a", "b", "\u202e", ""),
        key_tokens=tuple("vwxyz"),
        head_names=("Head 1", "Head 2", "Head 3"),
        number="norm",
        title="Somewhere",
        file_name="somewhere",
    )


class Page:
    """A page that follows its picture, without Streamlit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, data: LinesData) -> None:
        self.session: dict[str, object] = {}
        monkeypatch.setattr(st, "session_state", self.session)
        self.shown, self.data, self.view = caught(monkeypatch), data, AT_0

    def run(self) -> dict[str, Any]:
        """The header that the picture is sent."""
        head_lines(self.data, self.view, on_change=self.follow, key="lines")
        return self.shown[-1].header

    def follow(self, view: LinesView) -> None:
        self.view = view

    def report(self, view: LinesView, **wrong: object) -> None:
        header = self.shown[-1].header
        value = {**encoded(view), "command": header["command"]["number"], "digest": header["digest"], **wrong}
        self.session["lines"] = {"view": value}
        self.shown[-1].answers["view"](value)


AT_0, AT_1, AT_2 = (LinesView((0,), query=query) for query in (0, 1, 2))


def test_the_payload_holds_every_value_as_a_share_of_the_top(data: LinesData) -> None:
    header, (stored,) = unpack(pack(data))
    np.testing.assert_allclose((stored / 65535) ** 2 * header["top"], data.values.ravel(), atol=1e-4)
    assert header["queryTokens"] == ["a", "b", "\\u202e", "∅"]
    assert header["headNames"] == list(data.head_names)


def test_the_payload_stays_the_same_while_only_a_person_acts(data: LinesData, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    page = Page(monkeypatch, data)
    header = page.run()
    for view in (AT_1, AT_2, LinesView((0, 2), threshold=7)):
        page.report(view)
        assert page.view == view
        assert page.run() == header


def test_a_page_that_wants_something_else_is_obeyed_and_a_report_from_before_does_not_count(
    data: LinesData, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(monkeypatch, data)
    assert page.run()["command"]["number"] == 1
    page.report(AT_1)
    page.run()
    page.view = AT_2
    assert page.run()["command"] == {"number": 2, **encoded(AT_2)}
    page.report(AT_1, command=1)
    assert page.view == AT_2
    assert page.run()["command"]["number"] == 2


def test_a_picture_that_was_left_out_is_told_again_where_to_stand(
    data: LinesData, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(monkeypatch, data)
    page.run()
    page.report(AT_1)
    page.run()
    del page.session["lines"]
    assert page.run()["command"] == {"number": 2, **encoded(AT_1)}


def test_the_fingerprint_follows_everything_that_is_drawn(data: LinesData) -> None:
    changed = (
        replace(data, values=data.values / 2),
        replace(data, top=3.0),
        replace(data, query_tokens=tuple("abcd")),
        replace(data, title="Elsewhere"),
        replace(data, query_roles=(("user", 0, 2),)),
        replace(data, key_roles=(("user", 0, 2),)),
    )
    digests = set(map(digest, changed))
    assert len(digests | {digest(data)}) == 7


def test_names_that_do_not_fit_the_values_are_a_mistake(data: LinesData) -> None:
    with pytest.raises(AssertionError, match="values have shape"):
        replace(data, head_names=("Head 1",))


@pytest.mark.parametrize(
    "wrong",
    [
        {"heads": []},
        {"heads": [3]},
        {"heads": ["0"]},
        {"heads": [True]},
        {"heads": None},
        {"query": 4},
        {"query": -1},
        {"key": 5},
        {"key": "1"},
        {"threshold": 101},
        {"threshold": None},
        {"threshold": 0.5},
    ],
)
def test_a_place_that_does_not_exist_is_not_read(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"heads": [2, 0], "query": 3, "key": None, "threshold": 100}
    assert read_view(SHAPE, right) == LinesView((0, 2), query=3, threshold=100)
    assert read_view(SHAPE, right | wrong) is None


@pytest.mark.parametrize("value", [None, [], "x", {}, {"command": 1}])
def test_anything_else_from_the_browser_changes_nothing_that_is_shown(
    value: object, data: LinesData, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(monkeypatch, data)
    page.run()
    page.shown[-1].answers["view"](value)
    assert page.view == AT_0
