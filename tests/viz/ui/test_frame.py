"""What stands around every figure, and on a projector."""

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, opened
from viz.selection import state
from viz.selection.selection import Selection
from viz.server.opening_page.first_picture import STORY_CLOSED, STORY_COOKIE
from viz.text.messages import speaking, template
from viz.ui import frame, present
from viz.ui.frame import chart_config
from viz.ui.present import CHART_HEIGHT, SMALLEST_LETTERS, enlarged

POINTS: list[tuple[object, tuple[str, int, int] | None]] = [
    ([1, 2, "x", "y"], ("", 1, 2)), ({"0": 0, "1": 3}, ("", 0, 3)), ([], None), ([0, -1], None), (["a", 0], None),
    (["decoder.cross", 0, 2, "x"], ("decoder.cross", 0, 2)), (["decoder.cross", 0, -1], None), (["x", 0, 1], None),
    ({"0": 1}, None), ({"0": True, "1": 0.5}, None), ("12", None),
]  # fmt: skip
BESIDE: list[object] = [None, {}, {"selection": {"points": []}}, {"selection": 3}]


@pytest.mark.parametrize(
    ("said", "opened"),
    [
        *(({"selection": {"points": [{"customdata": custom}]}}, opened) for custom, opened in POINTS),
        *((said, None) for said in BESIDE),
    ],
)
def test_a_point_opens_its_head_if_it_names_one(
    said: object, opened: tuple[str, int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {"key": said})
    before = Selection()
    state.put(before)
    frame.open_point("key")
    site, layer, head = opened or ("", 0, 0)
    chosen = {"layer": layer, "head": head} | ({"site": site} if site else {})
    assert state.current() == (before if opened is None else before.changed(**chosen))


def test_a_chart_speaks_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    state.put(Selection())
    assert "locale" not in chart_config("a")
    with speaking("zh"):
        config: Any = chart_config("a")
        assert config["locales"][config["locale"]]["dictionary"]["Reset axes"] == template("Reset axes")


def test_letters_of_a_chart_become_large_and_the_chart_stays_within_the_screen() -> None:
    from plotly.graph_objects import Bar, Figure

    figure = Figure(Bar(x=[1], y=[2], textfont={"size": 14}))
    figure.update_layout(
        height=700, font_size=10, legend_font_size=13, annotations=[{"text": "a", "font": {"size": 11}}]
    )
    shown = enlarged(figure)
    layout = shown.layout
    sizes = [shown.data[0].textfont.size, layout.font.size, layout.legend.font.size, layout.annotations[0].font.size]
    assert min(*sizes, layout.xaxis.tickfont.size, layout.yaxis.title.font.size) >= SMALLEST_LETTERS
    ink = enlarged(Figure(layout={"xaxis": {"title": {"text": "a", "font": {"color": "#123456"}}}})).layout.xaxis.title
    assert (ink.font.color, ink.font.size) == ("#123456", SMALLEST_LETTERS)
    # Those that are large enough stay; of a smaller chart the height stays.
    assert (sizes[0], sizes[2]) == (14, 13)
    assert enlarged(Figure(layout={"height": CHART_HEIGHT - 9})).layout.height == CHART_HEIGHT - 9
    # Of numbers some are left out where they would lie over one another; a bar without its name says nothing.
    rows = {"tickvals": list(range(40)), "ticktext": [f"row {row}" for row in range(40)]}
    assert len(enlarged(Figure(Bar(x=[1], y=[2]), layout={"yaxis": rows})).layout.yaxis.ticktext) < 40
    bars = enlarged(Figure(Bar(x=[1] * 40, y=rows["tickvals"], orientation="h"), layout={"yaxis": rows})).layout
    assert (len(bars.yaxis.ticktext), bars.height >= 40 * SMALLEST_LETTERS) == (40, True)
    # An axis of powers of ten has neither small digits between them nor small exponents.
    axes = {"xaxis": {"type": "log"}, "yaxis": {"exponentformat": "power"}, "yaxis2": {"exponentformat": "SI"}}
    powers = enlarged(Figure(layout=axes)).layout
    assert (powers.xaxis.dtick, powers.yaxis.dtick) == (1, None)
    assert [axis.exponentformat for axis in (powers.xaxis, powers.yaxis, powers.yaxis2)] == ["SI", "e", "SI"]
    assert layout.height == CHART_HEIGHT
    assert list(shown.data[0].y) == [2]
    assert figure.layout.font.size == 10


@pytest.mark.parametrize(
    ("path", "params", "cookies", "url", "story"),
    [
        ("", {}, {}, "http://a.b", 1), ("", {"lang": "zh"}, {}, "http://a.b", 1),
        ("", {"text": "A"}, {}, "http://a.b", 0),
        ("", {"lang": "zh", "text": "A"}, {}, "http://a.b", 0), ("decode", {}, {}, "http://a.b", 0),
        ("", {}, {STORY_COOKIE: STORY_CLOSED}, "http://a.b", 0), ("", {}, {}, None, 0),
    ],
)  # fmt: skip
def test_the_story_opens_once_for_who_opens_the_first_page_itself_and_has_not_closed_it(
    path: str,
    params: dict[str, str],
    cookies: dict[str, str],
    url: str | None,
    story: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", params)
    monkeypatch.setattr(st, "context", SimpleNamespace(url=url, cookies=cookies))
    state.put(Selection())
    opened: Any = SimpleNamespace(url_path=path)
    present.begin_story(opened)
    assert state.current().common.story == story
    state.change(story=0)
    present.begin_story(opened)
    assert state.current().common.story == 0


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize(
    ("screen", "keys"), [(0, {"heads", "open-head"}), (1, {"open-head"}), (2, {"open-lines"}), (9, {"open-lines"})]
)
def test_the_attention_page_has_a_screen_for_the_heads_beside_the_open_one_and_one_for_each_way_to_draw_it(
    screen: int, keys: set[str]
) -> None:
    app: AppTest = opened(app_of(checkpoint="en-de", present="1", screen=screen))
    pictures = {"heads", "open-head", "open-lines"}
    drawn = {part for part in pictures if part in app.session_state}
    assert drawn == keys
