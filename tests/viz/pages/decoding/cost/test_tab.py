"""The cost of decoding on its page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.reading import traced
from tests.viz.sent import charts
from viz.access import models
from viz.pages.decoding.cost import PARTS
from viz.pages.decoding.data import searches
from viz.selection.selection import Selection


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Cost")


def test_the_parts_are_those_that_the_model_counts(chosen: Selection) -> None:
    cost = searches.step_costs(traced(TEXT, chosen), models.translator(chosen.model))[1]
    assert sum(getattr(cost.cached, part) for part in PARTS) == cost.cached.total
    assert sum(getattr(cost.recomputed, part) for part in PARTS) == cost.recomputed.total


def test_the_page_shows_the_step_of_the_link_and_moves_to_another(app: AppTest, chosen: Selection) -> None:
    opened(app, step=3)
    own, memory, bars, curve = charts(app)
    trace = traced(TEXT, chosen)
    costs = searches.step_costs(trace, models.translator(chosen.model))
    assert own["data"][0]["z"] != memory["data"][0]["z"]
    assert curve["layout"]["shapes"][0]["x0"] == 4
    tables = " ".join(element.value for element in app.html)
    assert f"{sum(cost.cached.total for cost in costs):,}" in tables
    assert f"{costs[3].recomputed.total:,}" in tables
    assert any("Step 4 reads" in element.value for element in app.caption)
    app.select_slider(key="step").set_value(0).run()
    assert app.query_params["step"] == "0"
    assert charts(app)[2] != bars
    assert any("computes those of all" in element.value for element in app.caption)


def test_a_step_that_does_not_exist_becomes_the_last_one_and_the_page_says_so(app: AppTest, chosen: Selection) -> None:
    opened(app, step=5000)
    steps = len(traced(TEXT, chosen).steps)
    assert f"names step 5001, but this translation has {steps}" in app.warning[0].value.replace("\\", "")
    assert app.query_params["step"] == str(steps - 1)
    assert app.select_slider(key="step").value == steps - 1
