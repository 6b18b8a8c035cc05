"""What a projector is shown."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import app_of, opened
from viz.selection.selection import Selection
from viz.selection.url import parse
from viz.ui.present import CHART_HEIGHT, SMALLEST_LETTERS, ZOOM, enlarged


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
