"""Each claim that is measured ends in one bold line that says what may be concluded."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.ablations.results import load_results
from model.training.ablations import RESULTS
from tests.paths import ROOT
from tests.viz.page_run import app_of
from tests.viz.pages.paper.opening import at, until
from viz.pages.paper.data import ablations
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    return app_of(checkpoint="en-de")


def bold_lines(app: AppTest) -> list[str]:
    return [one.value for one in app.markdown if one.value.startswith("**") and one.value.endswith("**")]


@pytest.mark.parametrize(
    ("claim", "concluded"),
    [
        ("Scores", "less than a tenth of the gradient is left"),
        ("Pooling", "A soft look-up predicts best"),
        ("Table 1", "takes 1 × the multiply-adds of a GRU here, and 1 sequential step instead of 64"),
    ],
)
def test_a_claim_has_one_bold_line_of_what_may_be_concluded(app: AppTest, claim: str, concluded: str) -> None:
    (line,) = bold_lines(at(app, claim, n=64, d=64))
    assert concluded in line


@pytest.mark.parametrize("is_shipped", [True, False], ids=["shipped", "without a GRU"])
def test_ablations_say_for_which_models_they_hold_and_why_the_gru_leads_if_it_does(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, is_shipped: bool
) -> None:
    if is_shipped:
        results = load_results(ROOT / "checkpoints" / "experiments" / RESULTS)
        monkeypatch.setattr(ablations, "results", lambda: results)
    at(app, "Ablations", text="The dog sleeps.")
    (line,) = bold_lines(until(app, lambda app: app.main.multiselect))
    assert "M parameters and were trained for 2,000 steps" in line
    assert ("The GRU leads" in line) == is_shipped
