"""Scores on the page: saturation by width, the heads of the model, the cost of each function."""

import time

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import measured_cost
from tests.patience import PATIENCE
from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at, said, started, until
from tests.viz.sent import charts
from viz.pages.paper import figures
from viz.pages.paper.data import claims


def weights_of(app: AppTest, panel: int) -> np.ndarray:
    return figure_values(charts(app)[panel]["data"][0]["y"])


def figure_values(values: object) -> np.ndarray:
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values, dtype=float)


def until_refused(app: AppTest) -> None:
    last = time.monotonic() + PATIENCE
    while not app.error:
        assert time.monotonic() < last, "nothing was refused"
        app.run()


def test_the_page_opens_on_the_papers_width_where_the_dot_product_is_saturated(app: AppTest) -> None:
    at(app, "Scores")
    dot, scaled = weights_of(app, 0), weights_of(app, 1)
    assert app.select_slider(key="score_width").value == 64
    assert dot[0] > 4 * scaled[0]
    assert dot.sum() == pytest.approx(1, abs=1e-5)


def test_another_width_draws_other_rows_and_stays_in_the_address(app: AppTest) -> None:
    at(app, "Scores")
    before = weights_of(app, 0)[0]
    healthy(app.select_slider(key="score_width").set_value(1024).run())
    assert weights_of(app, 0)[0] > before
    assert app.query_params["dk"] == "1024"


@pytest.mark.parametrize(("asked", "shown"), [(0, 2), (1, 2), (70, 64), (999_999, 1024)])
def test_a_width_of_a_link_becomes_the_nearest_there_is(app: AppTest, asked: int, shown: int) -> None:
    at(app, "Scores", dk=asked)
    assert app.select_slider(key="score_width").value == shown


def test_every_head_is_a_point_scaled_and_not(app: AppTest) -> None:
    at(app, "Scores")
    cloud = charts(app)[7]["data"]
    assert [len(figure_values(points["x"])) for points in cloud] == [3 * 2 * 4] * 2
    ratio = figure_values(cloud[0]["x"]) / figure_values(cloud[1]["x"])
    np.testing.assert_allclose(ratio, 8**0.5, rtol=1e-3)


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
