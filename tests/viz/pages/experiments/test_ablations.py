"""Ablations: which models and heads are shown, the table of what each part is worth, and what is said of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.ablations import outputs
from model.analysis.ablations.outputs import Repetition, SharedWords
from tests.viz.page_run import app_of, healthy, said, until
from tests.viz.pages.experiments.opening import at
from tests.viz.sent import charts, sent_to
from viz.pages.experiments import wording
from viz.pages.experiments.data import ablations
from viz.pages.experiments.data.ablations import Measured, Output, Row, SetResult
from viz.selection import catalogue
from viz.selection.catalogue import ROOT_VARIABLE
from viz.server.background_jobs import Progress
from viz.ui import long_work


@pytest.fixture(autouse=True)
def few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "OTHERS", 1)


TEXT = "The dog sleeps."


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    long_work.results.clear()
    return app_of(checkpoint="en-de")


def opened(app: AppTest, **choices: object) -> AppTest:
    at(app, "Ablations", **{"text": TEXT, **choices})
    return until(app, lambda app: app.main.multiselect)


def test_it_opens_on_the_full_model_and_the_one_that_is_farthest_and_leaves_the_address_alone(app: AppTest) -> None:
    shown = opened(app).multiselect(key="ablations").value
    assert shown[0] == "full"
    assert len(shown) == 2
    text = said(app)
    assert "exactly the same" in text if "no-positions" in shown else "lowest chrF" in text
    assert "compared with it" in text
    assert "Differences from the full model are" in text
    assert "The sentence:" not in text
    maps = sent_to(app, "matrix_picture")
    assert len(maps) == 2
    assert "rows give one key a weight of 0.99 or more" in text
    assert {(header["low"], header["high"]) for header, _ in maps} == {(0.0, 1.0)}
    assert "models" not in app.query_params


def test_models_are_chosen_shown_side_by_side_and_in_the_address(app: AppTest) -> None:
    opened(app)
    healthy(app.multiselect(key="ablations").set_value(["full", "no-positions", "gru"]).run())
    until(app, lambda app: len(sent_to(app, "matrix_picture")) == 3)
    assert app.query_params["models"] == "full.no-positions.gru"
    assert "with the words of the sentence in reverse order, its output is exactly the same" in said(app).lower()
    # Nothing chosen: the page proposes again.
    healthy(app.multiselect(key="ablations").set_value([]).run())
    until(app, lambda app: len(sent_to(app, "matrix_picture")) == 2)
    assert "models" not in app.query_params


def test_what_a_model_lacks_is_a_sentence_in_its_column(app: AppTest) -> None:
    opened(app, models="full.gru", ablation_site="encoder.self")
    assert len(sent_to(app, "matrix_picture")) == 1
    assert "A GRU has no self-attention" in said(app).replace("\\", "")
    healthy(app.selectbox(key="ablation_site").set_value("decoder.cross").run())
    healthy(app.selectbox(key="ablation_layer").set_value(2).run())
    assert "this model has 1 layer of 1 head" in said(app)
    (header, _), *_ = sent_to(app, "matrix_picture")
    assert header["title"].startswith("L2 ")


def test_the_table_has_the_paper_s_numbers_the_spread_and_a_point_for_each_seed(app: AppTest) -> None:
    app.session_state["ablations-seeds"] = True
    text = said(opened(app))
    for part in ("10.5 ± 2.1", "−10.5 ± 0.7", "−0.9", "relative to 25.8", "12,345", "python -m model"):
        assert part in text + " ".join(code.value for code in app.code), part
    assert "tatoeba_dev: single head" in text
    assert "−1.2 on tatoeba_dev" in text  # unscaled less single head
    (figure,) = charts(app)
    assert len(figure["data"][0]["x"]) == 8
    assert [button.proto.label for button in app.get("download_button")] == ["Every run (CSV)"]


def test_without_experiments_sentences_name_the_commands(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = at(app_of(), "Ablations", text=TEXT)
    assert "There are no small models" in said(app)
    assert "There are no results in" in said(app)


def test_a_sentence_too_long_for_the_models_is_refused_with_a_reason(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    task = ablations.comparison_task(ablations.presets(), (), "cpu", "long " * 80)
    found = task.compute(Progress(task.total, task.unit))
    assert "tokens" in found.refused
    assert not found.shown


def test_the_surest_head_gives_one_key_the_most(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    found = ablations.open_head(trace, "decoder.cross", None, None)
    assert found is not None

    def sureness(layer: int, head: int) -> float:
        # The end is no word: neither the row that reads it nor its key counts.
        weights = trace.weights("decoder.cross", layer)[head].numpy()
        return float(weights[:, :-1].max(1).mean())

    layers, heads = trace.shapes["decoder.cross"]
    best = max(sureness(layer, head) for layer in range(layers) for head in range(heads))
    assert sureness(found.layer, found.head) == pytest.approx(best)
    np.testing.assert_allclose(found.weights.sum(1), 1, rtol=1e-5)


SOUND = Measured(
    Output("no-positions", "x", 40.0),
    SharedWords(6, 4, 4),
    Repetition("▁a", 1),
    tokens=9,
    has_ended=True,
    same_backwards=False,
    stunted=0,
)


def test_what_is_broken_is_told_and_nothing_else() -> None:
    broken = replace(SOUND, repetition=Repetition("▁Ich", 64), has_ended=False, same_backwards=True, stunted=20)
    said = wording.findings(broken, "full")
    for part in ("“Ich” 64 times in a row", "does not end by itself", "exactly the same", "20 of 20 other sentences"):
        assert part in said
        assert part not in wording.findings(SOUND, "full")


def test_differences_smaller_than_their_spread_are_named() -> None:
    def row(preset: str, difference: tuple[float, float] | None) -> Row:
        return Row(preset, 3, {"dev": SetResult((20, 1), (40, 1), {}, difference)}, None, None)

    rows = [
        row("full", None),
        row("gru", (-0.5, 0.6)),
        row("additive", (-2.0, 0.6)),
        row("relu", (-0.6, 0.6)),
        row("post-norm", (0.1, float("nan"))),
    ]
    assert wording.within_spread(rows, "dev") == ("gru",)
    assert wording.within_spread(rows, "other") == ()
