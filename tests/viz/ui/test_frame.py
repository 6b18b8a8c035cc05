"""What stands around every figure."""

import plotly.graph_objects as go
import pytest

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
