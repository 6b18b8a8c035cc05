"""Live switches on the page, and for which models the ablations hold."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.ablations.results import load_results
from model.parts import removal
from model.training.ablations import RESULTS
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, said, until
from tests.viz.pages.experiments.opening import at, started
from tests.viz.sent import charts
from viz.access import models
from viz.pages.experiments.data import ablations
from viz.pages.experiments.live_switches import PAPER
from viz.selection.catalogue import ROOT_VARIABLE


def bold_lines(app: AppTest) -> list[str]:
    return [one.value for one in app.markdown if one.value.startswith("**") and one.value.endswith("**")]


def opened(app: AppTest, **choices: object) -> AppTest:
    at(app, "Ablations", text="The dog sleeps.", switches=1, **choices)
    return until(app, lambda app: app.get("html") and "Removed" in said(app))


def test_the_sentence_is_translated_without_each_part_of_any_layer(app: AppTest) -> None:
    shown = said(opened(app))
    for name in (
        "No positional encodings",
        "No division by √dₖ",
        "Only H1 of each attention",
        "No residual",
        "No layer norms",
    ):
        assert name in shown
    assert "not the same as training without it" in shown
    # The layer, and the head that stays, can be chosen.
    healthy(app.selectbox(key="kept_head").set_value(3).run())
    until(app, lambda app: "Only H4 of each attention" in said(app))
    healthy(app.selectbox(key="off_layer").set_value(2).run())
    until(app, lambda app: "removed from layer 2" in said(app))
    assert (app.query_params["kept"], app.query_params["without"]) == ("3", "2")
    # A single head off is the question of another page.
    app.button(key="one-head-off").click().run()
    assert app.session_state["selection"].coreference.coreference_tab == "Cause"


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


def test_the_parts_of_the_page_are_those_of_the_model() -> None:
    assert set(ablations.PARTS) == set(removal.PARTS) == set(PAPER)
