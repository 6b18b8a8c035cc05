"""Table 1 on the page: influence, counts, and the clock."""

import itertools

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import layer_kinds, measured_cost
from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at, said, started, until
from tests.viz.sent import charts, numbers_of
from viz.pages.paper import figures
from viz.pages.paper.data import claims


def test_a_wider_kernel_lets_influence_come_further(app: AppTest) -> None:
    at(app, "Table 1")
    before = [int((numbers_of(one) > 0).sum()) for one in charts(app)[2]["data"]]
    healthy(app.select_slider(key="kernel_width").set_value(7).run())
    after = [int((numbers_of(one) > 0).sum()) for one in charts(app)[2]["data"]]
    assert len(before) == claims.LAYERS
    assert all(wide > narrow for narrow, wide in zip(before, after, strict=True))
    assert before == sorted(before)


def test_no_influence_is_darker_than_the_smallest() -> None:
    shades = figures.shades(np.array([[0.0, 1e-9, 1e-3, 2.0]]))[0]
    assert shades[0] == 0
    assert shades[0] < shades[1] < shades[2] < shades[3]
    assert shades[3] == pytest.approx(1)


def test_heatmaps_stand_below_each_other_as_high_as_is_said() -> None:
    layout = figures.influence_maps([np.eye(4)] * 3, "name").layout
    spans = [layout[axis].domain for axis in ("yaxis", "yaxis2", "yaxis3")]
    drawn = layout.height - layout.margin.t - layout.margin.b
    for bottom, top in spans:
        assert (top - bottom) * drawn == pytest.approx(figures.SIDE)
    assert (spans[0][1], spans[2][0]) == (1, pytest.approx(0))
    for above, below in itertools.pairwise(spans):
        assert (above[0] - below[1]) * drawn == pytest.approx(figures.GAP)


def test_the_counts_follow_n_and_d(app: AppTest) -> None:
    at(app, "Table 1", n=64, d=64)
    # 4 n d² + 2 n² d is 6 n d² where n is d.
    assert said(app).count(">1.57 M<") == 2


def test_the_clock_gives_an_exponent_for_every_kind(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_cost, "SECONDS", 0.0)
    monkeypatch.setattr(layer_kinds, "WIDEST", 32)
    at(app, "Table 1", n=64, d=64)
    drawn = len(charts(app))
    started(app, "layer-times")
    until(app, lambda app: len(charts(app)) == drawn + 2)
    assert [len(chart["data"]) for chart in charts(app)[-2:]] == [5, 5]
    assert "Timed on the CPU" in said(app)
    assert "Why times differ from counts" in said(app)
