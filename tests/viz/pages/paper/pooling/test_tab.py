"""Pooling on the page: it opens on the width that predicts best, and follows the sliders."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at, said
from tests.viz.sent import charts, numbers_of
from viz.pages.paper.data import claims


def test_it_opens_on_the_width_with_the_smallest_error(app: AppTest) -> None:
    at(app, "Pooling")
    assert app.slider(key="pooling_width").value == claims.best_width() / 100
    assert min(claims.errors()) < min(claims.errors()[0], claims.errors()[-1])
    assert "sigma" not in app.query_params


def test_a_narrow_kernel_is_a_hard_lookup(app: AppTest) -> None:
    at(app, "Pooling")
    assert "a soft look-up" in said(app)
    healthy(app.slider(key="pooling_width").set_value(0.02).run())
    assert "a hard look-up" in said(app)
    assert app.query_params["sigma"] == "2"
    weights = numbers_of(charts(app)[1]["data"][0])
    assert (weights.max(1) > 0.7).mean() > 0.8


@pytest.mark.parametrize(("asked", "shown"), [(0, 0.02), (999_999, 2.0)])
def test_a_width_out_of_reach_becomes_the_nearest_and_a_sentence_says_so(
    app: AppTest, asked: int, shown: float
) -> None:
    at(app, "Pooling", sigma=asked)
    assert app.slider(key="pooling_width").value == shown
    assert "is out of range" in said(app)
