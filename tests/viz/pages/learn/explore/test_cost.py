"""The cost of decoding: blocks of the cache, bars and curves, and the page."""

import csv

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import TransformerConfig, decoder_sizes, step_cost
from tests.viz.page_run import run_page, traced
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.learn.explore.opening import explored, exploring, place
from tests.viz.sent import numbers_of, unlinked
from viz.access import models
from viz.pages.learn.explore.cost import PARTS, costs_csv
from viz.pages.learn.explore.cost_figures import (
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
from viz.pages.learn.explore.data.cost import step_costs
from viz.selection.choices import ModelChoice
from viz.selection.selection import Selection
from viz.text.written import display_token


def test_parts_and_blocks_agree_with_what_the_model_counts(chosen: Selection) -> None:
    cost = step_costs(traced(TEXT, chosen), models.translator(chosen.model))[1]
    assert sum(getattr(cost.cached, part) for part in PARTS) == cost.cached.total
    assert sum(getattr(cost.recomputed, part) for part in PARTS) == cost.recomputed.total
    # Blocks agree with the rows that the model counts.
    trace = traced(TEXT, chosen)
    for step, cost in enumerate(step_costs(trace, models.translator(chosen.model))):
        target, source = target_states(cost, len(trace.steps)), source_states(step, len(trace.source_ids))
        assert (target == COMPUTED).sum() == cost.new_target_rows
        assert (target == REUSED).sum() == cost.reused_target_rows
        assert (source == COMPUTED).sum() == cost.new_source_rows
        assert (source == REUSED).sum() == cost.reused_source_rows


def test_the_page_shows_the_step_of_the_link_and_moves_to_another(app: AppTest, chosen: Selection) -> None:
    exploring(app, "cost", checkpoint="en-de", text=TEXT, step=3)
    own, memory, bars, curve = explored(app)
    trace = traced(TEXT, chosen)
    costs = step_costs(trace, models.translator(chosen.model))
    assert own["data"][0]["z"] != memory["data"][0]["z"]
    assert curve["layout"]["shapes"][0]["x0"] == 4
    tables = " ".join(element.value for element in app.html)
    assert f"{sum(cost.cached.total for cost in costs):,}" in tables
    assert f"{costs[3].recomputed.total:,}" in tables
    read, written = (display_token(token) for token in (trace.target_tokens[3], trace.steps[3].token))
    said = " ".join(unlinked(element.value) for element in app.caption).replace("\\", "")
    assert f"Step 4 reads **{read}** and writes **{written}**" in said
    app.selectbox(key="step").set_value(0).run()
    assert app.query_params["step"] == "0"
    assert explored(app)[2] != bars
    assert any("computes those of all" in unlinked(element.value) for element in app.caption)


@pytest.mark.parametrize("asked", [{}, {"step": 5000}])
def test_it_opens_at_the_last_step_which_reuses_most(app: AppTest, chosen: Selection, asked: dict[str, int]) -> None:
    exploring(app, "cost", checkpoint="en-de", text=TEXT, **asked)
    assert app.selectbox(key="step").value == len(traced(TEXT, chosen).steps) - 1


def test_the_csv_has_a_row_for_each_step(chosen: Selection) -> None:
    costs = step_costs(traced(TEXT, chosen), models.translator(chosen.model))
    lines = list(csv.DictReader(costs_csv(costs).decode("utf-8-sig").splitlines()))
    assert len(lines) == len(costs)
    assert int(lines[3]["recomputed_total"]) == costs[3].recomputed.total
    assert int(lines[3]["cached_feed_forward"]) == costs[3].cached.feed_forward


def test_the_first_step_of_a_decoder_computes_its_whole_text(any_model: AppTest) -> None:
    text = "Tom was very late"
    for name, value in {**place("cost"), "checkpoint": "gpt2", "text": text, "step": "0"}.items():
        any_model.query_params[name] = value
    run_page(any_model, "learn")
    blocks, parts, _ = explored(any_model)
    prompt = len(models.writer(ModelChoice("gpt2")).decode(text).target_ids)
    assert sum(state == COMPUTED for state in numbers_of(blocks["data"][0])[0]) == prompt
    assert not any("Cross" in name for name in parts["data"][0]["y"])


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
