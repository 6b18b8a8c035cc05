"""The cost of decoding: blocks of the cache, and the page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import run_page, traced
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.learn.explore.opening import explored, exploring, place
from tests.viz.sent import numbers_of, unlinked
from viz.access import models
from viz.pages.learn.explore.cost import PARTS
from viz.pages.learn.explore.cost_figures import COMPUTED, REUSED, source_states, target_states
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
    assert any("computes the keys and values of all" in unlinked(element.value) for element in app.caption)


@pytest.mark.parametrize("asked", [{}, {"step": 5000}])
def test_it_opens_at_the_last_step_which_reuses_most(app: AppTest, chosen: Selection, asked: dict[str, int]) -> None:
    exploring(app, "cost", checkpoint="en-de", text=TEXT, **asked)
    assert app.selectbox(key="step").value == len(traced(TEXT, chosen).steps) - 1


def test_the_first_step_of_a_decoder_computes_its_whole_text(any_model: AppTest) -> None:
    text = "Tom was very late"
    for name, value in {**place("cost"), "checkpoint": "gpt2", "text": text, "step": "0"}.items():
        any_model.query_params[name] = value
    run_page(any_model, "learn")
    blocks, parts, _ = explored(any_model)
    prompt = len(models.writer(ModelChoice("gpt2")).decode(text).target_ids)
    assert sum(state == COMPUTED for state in numbers_of(blocks["data"][0])[0]) == prompt
    assert not any("Cross" in name for name in parts["data"][0]["y"])
