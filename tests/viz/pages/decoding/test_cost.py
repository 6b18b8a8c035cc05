"""The cost of decoding: blocks of the cache, bars and curves, and the page."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import TransformerConfig, decoder_sizes, step_cost
from tests.viz.page_run import traced
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.sent import charts
from viz.access import models
from viz.pages.decoding.cost import PARTS
from viz.pages.decoding.data import searches
from viz.pages.decoding.figures import (
    COMPUTED,
    LATER,
    REUSED,
    STATES,
    cache_blocks,
    cost_curve,
    part_bars,
    source_states,
    target_states,
)
from viz.selection.selection import Selection
from viz.text.written import amount, display_token


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Cost")


def test_parts_and_blocks_agree_with_what_the_model_counts(chosen: Selection) -> None:
    cost = searches.step_costs(traced(TEXT, chosen), models.translator(chosen.model))[1]
    assert sum(getattr(cost.cached, part) for part in PARTS) == cost.cached.total
    assert sum(getattr(cost.recomputed, part) for part in PARTS) == cost.recomputed.total
    # Blocks agree with the rows that the model counts.
    trace = traced(TEXT, chosen)
    for step, cost in enumerate(searches.step_costs(trace, models.translator(chosen.model))):
        target, source = target_states(cost, len(trace.steps)), source_states(step, len(trace.source_ids))
        assert (target == COMPUTED).sum() == cost.new_target_rows
        assert (target == REUSED).sum() == cost.reused_target_rows
        assert (source == COMPUTED).sum() == cost.new_source_rows
        assert (source == REUSED).sum() == cost.reused_source_rows


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
    read, written = (display_token(token) for token in (trace.target_tokens[3], trace.steps[3].token))
    said = " ".join(element.value for element in app.caption).replace("\\", "")
    assert f"Step 4 reads **{read}** and writes **{written}**" in said
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


SIZES = decoder_sizes(TransformerConfig(vocab_size=90, d_model=24, num_layers=2, num_heads=3, d_ff=40))


def test_a_step_computes_its_own_position_reuses_those_before_and_knows_none_after() -> None:
    assert target_states(step_cost(SIZES, 3, 2), 4).tolist() == [REUSED, REUSED, COMPUTED, LATER]
    assert target_states(step_cost(SIZES, 3, 0), 2).tolist() == [COMPUTED, LATER]
    assert target_states(step_cost(SIZES, 3, 0, prompt_length=3), 4).tolist() == [COMPUTED] * 3 + [LATER]


def test_pictures_carry_the_counts_and_no_token_is_markup() -> None:
    figure = cache_blocks(target_states(step_cost(SIZES, 3, 1), 3), ["<s>", "<b>", "x"], 2)
    assert list(figure.layout.yaxis.ticktext) == ["Layer 1", "Layer 2"]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;s&gt;", "&lt;b&gt;", "x"]
    assert figure.data[0].z.tolist() == [[REUSED, COMPUTED, LATER]] * 2
    assert figure.data[0].customdata[1].tolist() == [STATES[REUSED], STATES[COMPUTED], STATES[LATER]]
    # Bars and curves carry the counts, and the step its line.
    bars = part_bars({"a": (1_000, 5_000), "b": (2_000, 2_000)})
    assert [list(bar.x) for bar in bars.data] == [[1_000, 2_000], [5_000, 2_000]]
    curve = cost_curve(np.array([3, 4]), np.array([3, 9]), 1, ["a", "<b>"])
    assert [list(line.y) for line in curve.data] == [[3, 4], [3, 9]]
    assert list(curve.data[0].customdata) == ["a", "&lt;b&gt;"]
    assert curve.layout.shapes[0].x0 == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(940, "940"), (10_240, "10.2 k"), (5_765_120, "5.77 M"), (603_422_720, "603 M"), (13_443_000_000, "13.4 G")],
)
def test_counts_are_rounded_as_people_read_them(count: int, text: str) -> None:
    assert amount(count) == text
