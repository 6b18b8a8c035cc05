"""Scores, pooling and Table 1 below their lessons, and what may be concluded of each."""

from typing import get_args

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis import layer_kinds, scoring
from tests.viz.page_run import healthy, said
from tests.viz.pages.learn.explore.opening import explored, exploring
from tests.viz.sent import numbers, numbers_of
from viz.pages.learn.explore.data import pooling, scores, table_one


def weights_of(app: AppTest, panel: int) -> np.ndarray:
    return numbers(explored(app)[panel]["data"][0]["y"])


def concluded(app: AppTest) -> str:
    return [one.value for one in app.markdown if one.value.startswith("**") and one.value.endswith("**")][-1]


def test_the_page_opens_on_the_papers_width_where_the_dot_product_is_saturated(app: AppTest) -> None:
    shown = concluded(exploring(app, "scores"))
    assert "less than a tenth of the gradient is left" in shown
    heard = " ".join(chart.proto.alt for chart in app.get("plotly_chart"))
    for name in ("Dot product", "Scaled", "Additive", "Bilinear"):
        assert name in said(app)
        assert f"{name}, d_k = 64" in heard
    dot, scaled = weights_of(app, 0), weights_of(app, 1)
    assert app.select_slider(key="score_width").value == 64
    assert dot[0] > 4 * scaled[0]
    assert dot.sum() == pytest.approx(1, abs=1e-5)
    # Every head is a point, scaled and not.
    cloud = explored(app)[7]["data"]
    assert [len(numbers(points["x"])) for points in cloud] == [3 * 2 * 4] * 2
    ratio = numbers(cloud[0]["x"]) / numbers(cloud[1]["x"])
    np.testing.assert_allclose(ratio, 8**0.5, rtol=1e-3)
    # Another width draws other rows, and stays in the address.
    before = weights_of(app, 0)[0]
    healthy(app.select_slider(key="score_width").set_value(1024).run())
    assert weights_of(app, 0)[0] > before
    assert app.query_params["dk"] == "1024"


def test_it_opens_on_the_width_with_the_smallest_error(app: AppTest) -> None:
    shown = concluded(exploring(app, "pooling"))
    assert "A soft look-up predicts best" in shown
    assert app.slider(key="pooling_width").value == pooling.best_width() / 100
    assert min(pooling.errors()) < min(pooling.errors()[0], pooling.errors()[-1])
    assert "sigma" not in app.query_params
    # A narrow kernel is a hard lookup.
    assert "a soft look-up" in said(app)
    healthy(app.slider(key="pooling_width").set_value(0.02).run())
    assert "a hard look-up" in said(app)
    assert app.query_params["sigma"] == "2"
    # The query is where it says it is, on both pictures, and so is the width.
    curve, rows, error = explored(app)
    query = app.slider(key="pooling_query").value
    assert isinstance(query, float)
    assert curve["layout"]["shapes"][0]["x0"] == query == curve["data"][3]["x"][0]
    assert rows["layout"]["shapes"][0]["y0"] == round(query * 10) - 0.5
    assert error["layout"]["shapes"][0]["x0"] == 0.02 == numbers(error["data"][0]["x"])[0]
    weights = numbers_of(explored(app)[1]["data"][0])
    assert (weights.max(1) > 0.7).mean() > 0.8


@pytest.mark.parametrize(("asked", "shown"), [(0, 0.02), (999_999, 2.0)])
def test_a_width_out_of_reach_becomes_the_nearest_and_a_sentence_says_so(
    app: AppTest, asked: int, shown: float
) -> None:
    exploring(app, "pooling", sigma=asked)
    assert app.slider(key="pooling_width").value == shown
    assert "is out of range" in said(app)


def test_the_counts_and_what_is_concluded_follow_n_and_d(app: AppTest) -> None:
    shown = concluded(exploring(app, "table_one", n=64, d=64))
    assert "takes 1 × the multiply-adds of a GRU here, and 1 sequential step instead of 64" in shown
    # 4 n d² + 2 n² d is 6 n d² where n is d.
    assert said(app).count(">1.57 M<") == 2


def test_pooling_is_what_a_gaussian_kernel_gives() -> None:
    found = pooling.regression(150, 250)
    kernel = np.exp(-((2.5 - found.keys) ** 2) / (2 * 1.5**2))
    assert found.answer == pytest.approx(kernel @ found.values / kernel.sum())
    # Each point is predicted from all others.
    kernel = np.exp(-((found.keys[:, None] - found.keys) ** 2) / 2 / 2.0**2)
    np.fill_diagonal(kernel, 0)
    missed = kernel @ found.values / kernel.sum(1) - found.values
    assert pooling.errors()[pooling.TRIED.index(200)] == pytest.approx(np.sqrt((missed**2).mean()))


def test_the_row_of_a_head_that_changes_most_is_shown_scored_both_ways(translator: Translator) -> None:
    trace = translator.trace("The animal was tired.", "Das Tier war müde.")
    for site, layer, head in (("encoder.self", 1, 2), ("decoder.cross", 0, 3)):
        inputs = trace.attention(site, layer)
        products = (inputs.query[head] @ inputs.key[head].T).double()
        dot, scaled = products.softmax(-1), (products / 8**0.5).softmax(-1)
        row = scores.most_changed_row(trace, site, layer, head)
        assert row == int((dot - scaled).abs().sum(1).argmax())
        weights = scores.row_weights(trace, site, layer, head, row)
        np.testing.assert_allclose(weights["scaled"], scaled[row], atol=1e-5)
        np.testing.assert_allclose(weights["dot"], dot[row], atol=1e-5)
    assert scores.own_scale(trace) == pytest.approx(8**-0.5)


def test_the_lists_of_the_topics_are_those_of_the_model() -> None:
    assert scores.NAMES == scoring.NAMES
    assert scores.WIDTHS == scoring.WIDTHS
    assert get_args(layer_kinds.Kind) == table_one.KINDS
