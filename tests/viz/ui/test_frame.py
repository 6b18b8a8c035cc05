"""What stands around every figure."""

import plotly.graph_objects as go
import pytest
import streamlit as st

from viz import theme
from viz.selection.selection import Selection
from viz.ui import frame
from viz.ui.frame import chart_config


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
