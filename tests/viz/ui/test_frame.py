"""What stands around every figure, and on a projector."""

import re

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import app_of, opened
from viz import theme
from viz.selection.selection import Selection
from viz.selection.url import parse
from viz.text.messages import speaking, template
from viz.ui import frame
from viz.ui.frame import chart_config
from viz.ui.present import CHART_HEIGHT, SMALLEST_LETTERS, ZOOM, enlarged


def test_a_chart_config_changes_nothing_but_the_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.selection.state.current", lambda: Selection().changed(picture_format="PNG"))
    assert chart_config("a")["toImageButtonOptions"] == {"format": "png", "filename": "a", "scale": 2}
    assert chart_config("a")["displaylogo"] is False


def test_all_axes_of_a_chart_have_the_strongest_grey_and_keep_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.selection.state.current", Selection)
    drawn: list[go.Figure] = []
    monkeypatch.setattr("viz.ui.frame.st.plotly_chart", lambda figure, **_settings: drawn.append(figure))
    given = go.Figure(go.Scatter(y=[1]), {"xaxis": {"tickfont": {"size": 9}, "title": {"text": "a"}}})
    frame.chart(given, "key", "name", "what it shows")
    for axis in (drawn[0].layout.xaxis, drawn[0].layout.yaxis):
        assert axis.tickfont.color == axis.title.font.color == theme.CHART_TEXT
    assert drawn[0].layout.xaxis.tickfont.size == 9
    assert drawn[0].layout.xaxis.title.text == "a"


@pytest.mark.parametrize(
    ("custom", "opened"),
    [
        ([1, 2, "x", "y"], {"layer": 1, "head": 2}),
        ({"0": 0, "1": 3}, {"layer": 0, "head": 3}),
        (["decoder.cross", 1, 2, "x"], {"site": "decoder.cross", "layer": 1, "head": 2}),
        *((custom, None) for custom in ([], [0, -1], ["a", 0], ["x", 0, 1], {"0": 1}, {"0": True, "1": 0.5}, "12")),
    ],
)
def test_a_point_opens_its_head_if_it_names_one(
    monkeypatch: pytest.MonkeyPatch, custom: object, opened: dict[str, object] | None
) -> None:
    chosen: list[dict[str, object]] = []
    monkeypatch.setattr(st, "session_state", {"key": {"selection": {"points": [{"customdata": custom}]}}})
    monkeypatch.setattr("viz.selection.state.change", lambda **values: chosen.append(values))
    frame.open_point("key")
    assert chosen == ([] if opened is None else [opened])


@pytest.mark.parametrize("said", [None, {}, {"selection": {"points": []}}, {"selection": "x"}])
def test_a_click_beside_all_points_opens_nothing(monkeypatch: pytest.MonkeyPatch, said: object) -> None:
    monkeypatch.setattr(st, "session_state", {"key": said})
    monkeypatch.setattr("viz.selection.state.change", lambda **values: pytest.fail("a head is opened"))
    frame.open_point("key")


def test_letters_of_a_chart_become_large_and_the_chart_stays_within_the_screen() -> None:
    from plotly.graph_objects import Bar, Figure

    figure = Figure(Bar(x=[1], y=[2], textfont={"size": 14}))
    figure.update_layout(
        height=700, font_size=12, legend_font_size=13, annotations=[{"text": "a", "font": {"size": 12}}]
    )
    shown = enlarged(figure)
    layout = shown.layout
    sizes = [shown.data[0].textfont.size, shown.layout.font.size, shown.layout.legend.font.size]
    sizes += [
        shown.layout.annotations[0].font.size,
        shown.layout.xaxis.tickfont.size,
        shown.layout.yaxis.title.font.size,
    ]
    assert min(sizes) >= SMALLEST_LETTERS
    assert layout.height == CHART_HEIGHT
    assert list(shown.data[0].y) == [2]
    assert figure.layout.font.size == 12


def test_python_reckons_with_the_zoom_of_the_style_sheet() -> None:
    style = (ROOT / "viz" / "ui" / "present.css").read_text(encoding="utf-8")
    assert re.findall(r"--zoom: ([\d.]+);", style) == [str(ZOOM)]


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


def test_a_wrong_switch_in_an_address_presents_nothing() -> None:
    assert parse({"present": "yes"}, Selection()).common.presented == ""
    assert parse({"present": "1"}, Selection()).common.presented == "1"


def test_plotlys_own_texts_are_in_the_language_that_is_read() -> None:
    assert frame._locale_config() == {}
    with speaking("zh"):
        config = frame._locale_config()
        reset = template("Reset axes")

    assert config["locale"] == "zh"
    assert isinstance(config["locales"], dict)
    assert config["locales"]["zh"]["dictionary"]["Reset axes"] == reset
