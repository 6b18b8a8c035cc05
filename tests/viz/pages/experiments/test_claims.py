"""Scores, pooling, Table 1 and live switches on the page, and what may be concluded of each."""

import itertools
import time
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.analysis import layer_kinds, measured_cost, scoring
from model.analysis.ablations.results import load_results
from model.analysis.interventions import parts_off
from model.training.ablations import RESULTS
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy
from tests.viz.pages.experiments.opening import at, said, started, until
from tests.viz.sent import charts, numbers_of
from viz.access import models
from viz.pages.experiments import figures
from viz.pages.experiments.data import ablations, claims
from viz.pages.experiments.live_switches import PAPER
from viz.selection.catalogue import ROOT_VARIABLE


def weights_of(app: AppTest, panel: int) -> np.ndarray:
    return figure_values(charts(app)[panel]["data"][0]["y"])


def figure_values(values: object) -> np.ndarray:
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values, dtype=float)


def bold_lines(app: AppTest) -> list[str]:
    return [one.value for one in app.markdown if one.value.startswith("**") and one.value.endswith("**")]


def until_refused(app: AppTest) -> None:
    last = time.monotonic() + PATIENCE
    while not app.error:
        assert time.monotonic() < last, "nothing was refused"
        app.run()


def test_the_page_opens_on_the_papers_width_where_the_dot_product_is_saturated(app: AppTest) -> None:
    (concluded,) = bold_lines(at(app, "Scores"))
    assert "less than a tenth of the gradient is left" in concluded
    assert all(name in said(app) for name in ("Dot product", "Scaled", "Additive", "Bilinear"))
    dot, scaled = weights_of(app, 0), weights_of(app, 1)
    assert app.select_slider(key="score_width").value == 64
    assert dot[0] > 4 * scaled[0]
    assert dot.sum() == pytest.approx(1, abs=1e-5)
    # Every head is a point, scaled and not.
    cloud = charts(app)[7]["data"]
    assert [len(figure_values(points["x"])) for points in cloud] == [3 * 2 * 4] * 2
    ratio = figure_values(cloud[0]["x"]) / figure_values(cloud[1]["x"])
    np.testing.assert_allclose(ratio, 8**0.5, rtol=1e-3)
    # Another width draws other rows, and stays in the address.
    before = weights_of(app, 0)[0]
    healthy(app.select_slider(key="score_width").set_value(1024).run())
    assert weights_of(app, 0)[0] > before
    assert app.query_params["dk"] == "1024"


@pytest.mark.parametrize(("asked", "shown"), [(0, 2), (70, 64), (999_999, 1024)])
def test_a_width_of_a_link_becomes_the_nearest_there_is(app: AppTest, asked: int, shown: int) -> None:
    at(app, "Scores", dk=asked)
    assert app.select_slider(key="score_width").value == shown


def test_costs_are_measured_when_asked_for_and_tell_a_size_that_does_not_fit(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_cost, "SECONDS", 0.0)
    at(app, "Scores", pairs=128, dk=8)
    drawn = len(charts(app))
    started(app, "score-costs")
    until(app, lambda app: len(charts(app)) == drawn + 2)
    assert "Relative to dot" in said(app)
    monkeypatch.setattr(measured_cost, "available_bytes", lambda device: 10_000)
    healthy(app.select_slider(key="score_size").set_value(256).run())
    app.button(key="score-costs-start").click().run()
    until_refused(app)
    assert "256 queries and 256 keys" in app.error[0].value
    assert not app.exception


def test_a_line_is_the_median_of_the_rows(app: AppTest) -> None:
    samples = {name: [claims.sample(name, width) for width in (2, 1024)] for name in claims.NAMES}
    entropy = figures.entropy_curve(samples, 64).data[0]
    assert list(entropy.y) == [sample.entropy.median for sample in samples["dot"]]
    assert entropy.y[1] < 0.1 < entropy.y[0]


def test_it_opens_on_the_width_with_the_smallest_error(app: AppTest) -> None:
    (concluded,) = bold_lines(at(app, "Pooling"))
    assert "A soft look-up predicts best" in concluded
    assert app.slider(key="pooling_width").value == claims.best_width() / 100
    assert min(claims.errors()) < min(claims.errors()[0], claims.errors()[-1])
    assert "sigma" not in app.query_params
    # A narrow kernel is a hard lookup.
    assert "a soft look-up" in said(app)
    healthy(app.slider(key="pooling_width").set_value(0.02).run())
    assert "a hard look-up" in said(app)
    assert app.query_params["sigma"] == "2"
    # The query is where it says it is, on both pictures, and so is the width.
    curve, rows, error = charts(app)
    query = app.slider(key="pooling_query").value
    assert isinstance(query, float)
    assert curve["layout"]["shapes"][0]["x0"] == query == curve["data"][3]["x"][0]
    assert rows["layout"]["shapes"][0]["y0"] == round(query * 10) - 0.5
    assert error["layout"]["shapes"][0]["x0"] == 0.02 == figure_values(error["data"][0]["x"])[0]
    weights = numbers_of(charts(app)[1]["data"][0])
    assert (weights.max(1) > 0.7).mean() > 0.8


@pytest.mark.parametrize(("asked", "shown"), [(0, 0.02), (999_999, 2.0)])
def test_a_width_out_of_reach_becomes_the_nearest_and_a_sentence_says_so(
    app: AppTest, asked: int, shown: float
) -> None:
    at(app, "Pooling", sigma=asked)
    assert app.slider(key="pooling_width").value == shown
    assert "is out of range" in said(app)


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


def test_the_counts_and_what_is_concluded_follow_n_and_d(app: AppTest) -> None:
    (concluded,) = bold_lines(at(app, "Table 1", n=64, d=64))
    assert "takes 1 × the multiply-adds of a GRU here, and 1 sequential step instead of 64" in concluded
    # 4 n d² + 2 n² d is 6 n d² where n is d.
    assert said(app).count(">1.57 M<") == 2


def test_the_clock_gives_an_exponent_for_every_kind(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_cost, "SECONDS", 0.0)
    monkeypatch.setattr(layer_kinds, "WIDEST", 32)
    at(app, "Table 1", n=64, d=64)
    drawn = len(charts(app))
    started(app, "layer-times")
    until(app, lambda app: len(charts(app)) == drawn + 2)
    devices = 1 + torch.cuda.is_available()
    assert [len(chart["data"]) for chart in charts(app)[-2:]] == [5 * devices, 5 * devices]
    assert "Timed on the CPU" in said(app)
    assert "Why times differ from counts" in said(app)


def opened(app: AppTest, **choices: object) -> AppTest:
    at(app, "Live switches", text="The dog sleeps.", **choices)
    return until(app, lambda app: app.get("html") and "Removed" in said(app))


def test_the_sentence_is_translated_without_each_part_of_any_layer(app: AppTest) -> None:
    shown = said(opened(app))
    for name in ("No positions", "No division by √dₖ", "Only H1 of each attention", "No residual", "No layer norms"):
        assert name in shown
    assert "not the same as training without it" in shown
    # The layer, and the head that stays, can be chosen.
    healthy(app.selectbox(key="kept_head").set_value(3).run())
    until(app, lambda app: "Only H4 of each attention" in said(app))
    healthy(app.selectbox(key="off_layer").set_value(2).run())
    until(app, lambda app: "removed from layer 2" in said(app))
    assert (app.query_params["kept"], app.query_params["without"]) == ("3", "2")


def test_a_layer_and_a_head_that_are_not_there_become_the_first(app: AppTest) -> None:
    # Of two layers and four heads.
    opened(app, without=3, kept=4)
    assert app.selectbox(key="off_layer").options == ["All layers", "Layer 1", "Layer 2"]
    assert (app.selectbox(key="off_layer").value, app.selectbox(key="kept_head").value) == (0, 0)


def test_bleu_is_against_the_whole_model_and_said_to_be(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [f"The dog sleeps in house {number}." for number in range(4)]

    class Line:
        def __init__(self, text: str) -> None:
            self.text = text

    monkeypatch.setattr("model.analysis.interventions.parts_off.read_text", lambda path: list(map(Line, corpus)))
    monkeypatch.setattr(ablations, "SENTENCES", len(corpus))
    opened(app)
    assert "full model's own translations" in said(app)
    started(app, "parts-off")
    until(app, lambda app: charts(app))
    (bars,) = charts(app)[-1]["data"]
    assert len(bars["y"]) == len(ablations.PARTS)
    assert ">BLEU<" in said(app)


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    return app_of(checkpoint="en-de")


@pytest.mark.parametrize("is_shipped", [True, False], ids=["shipped", "without a GRU"])
def test_ablations_say_for_which_models_they_hold_and_why_the_gru_leads_if_it_does(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, is_shipped: bool
) -> None:
    if is_shipped:
        results = load_results(ROOT / "checkpoints" / "experiments" / RESULTS)
        monkeypatch.setattr(models, "ablation_results", lambda: results)
    at(app, "Ablations", text="The dog sleeps.")
    (line,) = bold_lines(until(app, lambda app: app.main.multiselect))
    assert "M parameters and were trained for 2,000 steps" in line
    assert ("The GRU leads" in line) == is_shipped


def test_the_lists_of_the_page_are_those_of_the_model() -> None:
    assert claims.NAMES == scoring.NAMES
    assert claims.WIDTHS == scoring.WIDTHS
    assert claims.COSTED == scoring.MEASURED
    assert get_args(layer_kinds.Kind) == claims.KINDS
    assert set(ablations.PARTS) == set(parts_off.PARTS) == set(PAPER)
