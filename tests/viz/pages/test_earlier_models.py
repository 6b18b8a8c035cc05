"""Every page with the models from before the Transformer: what they have is shown, what they lack is said."""

from pathlib import Path
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz import page_run
from tests.viz.pages.learn.explore.opening import place
from tests.viz.sent import sent_to, unlinked
from viz.selection.catalogue import DOWNLOADS_VARIABLE, ROOT_VARIABLE
from viz.selection.choices import (
    AttentionTab,
    CoreferenceTab,
    DecodingTab,
    ExperimentsTab,
    Inside,
    ModelSection,
    Search,
)

TABS = [
    *(("attention", "view", tab) for tab in get_args(AttentionTab)),
    *(("decoding", "studio", tab) for tab in get_args(DecodingTab)),
    *(("decoding", "search", search) for search in get_args(Search)[1:]),
    *(("decoding", "studio", inside) for inside in get_args(Inside)[1:]),
    *(("coreference", "lab", tab) for tab in get_args(CoreferenceTab)),
    *(("experiments", "claim", tab) for tab in get_args(ExperimentsTab)),
    *(("model_card", "about", tab) for tab in get_args(ModelSection)),
    ("atlas", "atlas", "Table"),
]
#: Page and tab → what is said there of what such a model lacks.
SAID = {
    ("attention", "All heads"): "no self-attention",
    ("decoding", "Film"): "no self-attention",
    ("decoding", "Logit lens"): "logit lens reads layers that all add to one sum",
    ("attention", "Why"): "sum",
    ("decoding", "Attribution"): "no self-attention",
    ("coreference", "Measured"): "no self-attention",
    ("atlas", "Table"): "There is no atlas of this model",
}
both = pytest.mark.parametrize("name", ["recurrent", "convolutional"])


@pytest.fixture(autouse=True)
def root(earlier_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(earlier_checkpoints))
    monkeypatch.delenv(DOWNLOADS_VARIABLE, raising=False)


def opened(name: str, page: str, **asked: str) -> AppTest:
    return page_run.opened(page_run.app_of(), page, **{"checkpoint": name, "text": "So late?", **asked})


def exploring(name: str, topic: str) -> AppTest:
    """Explore of a topic, with a model on which the lesson above it cannot run, and says so alone."""
    app = page_run.run_page(page_run.app_of(checkpoint=name, text="So late?", **place(topic)), "learn")
    assert not app.exception
    (error,) = app.error
    assert "Headlight runs itself" in error.value
    return app


def said(app: AppTest) -> str:
    return " ".join(unlinked(one.value).replace("\\", "") for one in app.info)


@pytest.mark.parametrize(("page", "parameter", "tab"), TABS)
@both
def test_every_tab_of_every_page_opens_and_says_what_is_lacking(name: str, page: str, parameter: str, tab: str) -> None:
    app = opened(name, page, **{parameter: tab})
    assert app.info or app.get("bidi_component") or app.get("plotly_chart") or app.get("iframe") or app.button
    assert SAID.get((page, tab), "") in said(app)


def test_a_gru_shows_one_head_and_needs_no_positions() -> None:
    app = opened("recurrent", "attention")
    assert app.segmented_control(key="site").options == ["Decoder cross"]
    assert [len(app.selectbox(key=key).options) for key in ("layer", "head")] == [1, 1]
    assert app.segmented_control(key="measure").options == ["Weights", "Norms"]
    assert "a Transformer with all three attentions" in said(exploring("recurrent", "masks"))
    app = exploring("recurrent", "positions")
    assert "needs no positional encodings" in " ".join(one.value for one in app.markdown)


def test_a_convolutional_model_shows_a_head_a_layer_and_its_table_of_positions() -> None:
    app = opened("convolutional", "attention")
    assert [len(app.selectbox(key=key).options) for key in ("layer", "head")] == [3, 1]
    app = exploring("convolutional", "positions")
    ((header, (values,)),) = sent_to(app, "matrix_picture")
    assert len(header["columnTokens"]) == 32
    assert len(values) == 32 * len(header["rowTokens"])


@both
def test_the_film_has_one_strip_and_a_step_can_be_forced(name: str) -> None:
    ((header, _),) = sent_to(opened(name, "decoding"), "decode_player")
    assert header["titles"][1] == ""
    token_id, token, _ = header["steps"][2]["candidates"][3]
    ((forced, _),) = sent_to(opened(name, "decoding", branches=f"0-2-t{token_id}", branch="1"), "decode_player")
    assert forced["steps"][2]["token"] == token != header["steps"][2]["token"]
    assert forced["steps"][:2] == header["steps"][:2]


@both
def test_no_switch_is_offered_for_a_division_that_the_model_does_not_do(name: str) -> None:
    app = opened(name, "learn", learn="The Transformer", depth="head", scaled="False")
    assert "scaled" not in {toggle.key for toggle in app.toggle}
    ((header, _),) = sent_to(app, "walk")
    assert header["row"]["steps"][2]["title"] == "No division by √dₖ at this step"
    assert "W_O" not in header["row"]["steps"][-1]["text"]


@pytest.mark.parametrize("page", ["attention", "decoding", "coreference", "experiments"])
def test_a_model_without_attention_says_so_on_every_page_of_attention(page: str) -> None:
    app = page_run.run_page(page_run.app_of(checkpoint="recurrent-fixed-vector", text="So late?"), page)
    assert not app.exception
    assert [one.value.startswith("This model has no attention") for one in app.error] == [True]
