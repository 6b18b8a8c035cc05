"""The tabs on the chosen model with models of every kind: what they have is shown, what they lack is said."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.any_model import MODELS, opened
from tests.viz.sent import sent_to


@pytest.mark.parametrize("name", [*MODELS, "vit"])
@pytest.mark.parametrize("tab", ["The Transformer", "Follow one token"])
def test_both_tabs_open_for_every_kind_of_model(any_model: AppTest, name: str, tab: str) -> None:
    any_model.query_params["learn"] = tab
    app = opened(any_model, name, "learn")
    assert not app.error, app.error[0].value
    drawn = sent_to(app, "architecture_player" if tab == "The Transformer" else "token_path")
    assert drawn or app.info


@pytest.mark.parametrize(("name", "stacks", "norm"), [("bert", ["encoder"], "post"), ("gpt2", ["decoder"], "pre")])
def test_the_map_of_one_stack_has_no_other_and_its_norms_where_they_stand(
    any_model: AppTest, name: str, stacks: list[str], norm: str
) -> None:
    any_model.query_params["learn"] = "The Transformer"
    ((header, _),) = sent_to(opened(any_model, name, "learn"), "architecture_player")
    architecture = header["architecture"]
    assert [stack for stack in ("encoder", "decoder") if architecture[stack]] == stacks
    assert architecture["norm"] == norm


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_a_token_of_a_library_model_is_followed_with_its_proof(any_model: AppTest, name: str) -> None:
    any_model.query_params["learn"] = "Follow one token"
    app = opened(any_model, name, "learn")
    ((path, _),) = sent_to(app, "token_path")
    assert {part["kind"] for part in path["parts"]} >= {"embedding", "self", "feed_forward"}
    assert any("the contributions add up" in one.value and "green" in one.value for one in app.markdown)


@pytest.mark.parametrize(("name", "why"), [("mpnet", "exposes only its attention weights"), ("vit", "patches")])
def test_what_gives_no_parts_says_why(any_model: AppTest, name: str, why: str) -> None:
    any_model.query_params["learn"] = "Follow one token"
    assert why in opened(any_model, name, "learn").info[0].value
