"""Ablations: which models and heads are shown, the table of what each part is worth, and what is said of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.ablations import outputs
from model.analysis.ablations.outputs import OTHERS, Repetition, SharedWords
from tests.viz.page_run import app_of, healthy
from tests.viz.pages.experiments.opening import at, said, until
from tests.viz.sent import charts, sent_to
from viz.pages.experiments import wording
from viz.pages.experiments.data import ablations
from viz.pages.experiments.data.ablations import Measured, Output, Row, SetResult
from viz.pages.experiments.figures import seed_points
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
    assert "exactly the same" in text if "no-positions" in shown else "least similar to it" in text
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
    assert "with the words of the sentence in reverse order it writes exactly the same" in said(app).lower()
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


def test_an_address_with_models_and_a_layer_that_are_not_there_opens(app: AppTest) -> None:
    opened(app, models="no-residual.no-such", ablation_layer=99, ablation_head=99)
    assert app.multiselect(key="ablations").value == ["no-residual"]
    assert (app.selectbox(key="ablation_layer").value, app.selectbox(key="ablation_head").value) == (0, 0)
    assert "no-such" in said(app).replace("\\", "")


def test_the_table_has_the_paper_s_numbers_the_spread_and_a_point_for_each_seed(app: AppTest) -> None:
    app.session_state["ablations-seeds"] = True
    text = said(opened(app))
    for part in ("10.5 ± 2.1", "−10.5 ± 0.7", "−0.9", "relative to 25.8", "12,345", "python -m model"):
        assert part in text + " ".join(code.value for code in app.code), part
    assert "on tatoeba_dev for single head" in text
    assert "−1.2 on tatoeba_dev" in text  # unscaled less single head
    (figure,) = charts(app)
    assert len(figure["data"][0]["x"]) == 8
    assert [button.proto.label for button in app.get("download_button")] == ["Every run (CSV)"]


def test_a_button_opens_the_model_on_another_page_at_the_head_that_is_shown(app: AppTest) -> None:
    opened(app, models="no-positions", ablation_layer=2, ablation_head=3)
    app.button(key="ablation-attention-no-positions").click().run()
    assert not app.exception, app.exception[0].value
    assert app.query_params["checkpoint"] == "experiments/no-positions"
    assert app.selectbox(key="checkpoint").value == "experiments/no-positions"
    assert [app.selectbox(key=key).value for key in ("layer", "head")] == [1, 2]


def test_without_experiments_sentences_name_the_commands(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = at(app_of(), "Ablations", text=TEXT)
    assert "There are no small models" in said(app)
    assert "There are no results in" in said(app)


def test_the_farthest_is_least_like_the_reference_and_of_equal_ones_the_first() -> None:
    outputs = [Output("full", "a", 100), Output("b", "a", 30), Output("c", "a", 10), Output("d", "a", 10)]
    assert ablations.farthest(outputs) == "c"
    assert ablations.farthest(outputs[:1]) is None


def test_models_come_in_the_order_of_the_table_and_folders_of_other_names_are_left_out(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(experiment_checkpoints))
    known = catalogue.experiments()
    assert list(known) == ["full", "gru", "no-positions", "no-residual"]
    monkeypatch.setattr(catalogue, "experiments", lambda: known | {"mine": Path("mine")})
    assert ablations.presets() == ("full", "no-positions", "no-residual", "gru")


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


def test_hard_rows_are_those_that_give_one_key_nearly_all() -> None:
    weights = np.array([[0.995, 0.005], [0.98, 0.02], [0.0, 1.0], [ablations.HARD, 0.01]])
    assert ablations.OpenHead(0, 0, weights, tuple("abcd"), ("a", "b")).hard_rows == 3


SOUND = Measured(
    Output("no-positions", "x", 40.0),
    SharedWords(6, 4, 4),
    Repetition("▁a", 1),
    tokens=9,
    has_ended=True,
    same_backwards=False,
    stunted=0,
)


def test_numbers_of_sentences_are_those_that_are_measured() -> None:
    assert wording.OTHERS == OTHERS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (SharedWords(6, 4, 4), "It has 4 of the 6 words that the full model wrote, in the same order."),
        (SharedWords(6, 4, 2), "It has 4 of the 6 words that the full model wrote, 2 in its order."),
        (SharedWords(6, 1, 1), "It has 1 of the 6 words that the full model wrote."),
        (SharedWords(6, 6, 3), "It has all words of the full model, 3 in its order."),
        (SharedWords(6, 0, 0), "It has none of the 6 words that the full model wrote."),
        (SharedWords(0, 0, 0), "There is nothing to compare: the full model wrote no word."),
    ],
)
def test_shared_words_are_told_with_their_order(words: SharedWords, said: str) -> None:
    assert wording.findings(replace(SOUND, words=words), "full") == said
    if words.shared:
        same = wording.findings(replace(SOUND, output=Output("x", "y", 100.0), words=words), "gru")
        assert same == "It writes what the model “gru” wrote, word for word."


@pytest.mark.parametrize(("times", "is_told"), [(3, False), (4, True)])
def test_a_token_counts_as_repeated_from_four_times_on(times: int, is_told: bool) -> None:
    told = wording.findings(replace(SOUND, repetition=Repetition("▁a", times)), "full")
    assert (f"“a” {times} times in a row" in told) == is_told


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


def test_a_single_run_has_no_spread() -> None:
    assert wording.spread(20.04, float("nan")) == "20.0"
    assert wording.spread(-2.04, 0.3, is_difference=True) == "−2.0 ± 0.3"


def row(preset: str, differences: dict[int, float], paper: float | None = None) -> Row:
    return Row(preset, 2, {"dev": SetResult((1, 1), (1, 1), differences, None)}, None, paper)


def test_each_seed_is_a_point_and_the_first_model_is_on_top() -> None:
    rows = [row("full", {}), row("no-positions", {0: -8, 1: -7}), row("no-dropout", {0: 0.5}, -1.2)]
    figure = seed_points(rows, "dev")
    seeds, paper = figure.data
    assert list(zip(seeds.x, seeds.y, strict=True)) == [(-8, "no positions"), (-7, "no positions"), (0.5, "no dropout")]
    assert (list(paper.x), list(paper.y)) == ([-1.2], ["no dropout"])
    assert list(figure.layout.yaxis.categoryarray) == ["no dropout", "no positions"]
    assert "seed 1: −7.0" in seeds.customdata


def test_positions_are_added_before_the_first_layer_and_other_parts_are_of_one() -> None:
    offs = ablations.parts_off(1, 2)
    assert {off.part: off.layer for off in offs} == {
        "positions": None, "scaling": 1, "heads": 1, "residuals": 1, "norms": 1
    }  # fmt: skip
    assert {off.kept_head for off in offs} == {2}
