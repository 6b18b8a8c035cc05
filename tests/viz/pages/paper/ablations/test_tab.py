"""Ablations on the page: a sentence through small models, and the table of what each part is worth."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, healthy
from tests.viz.pages.paper.opening import at, said, until
from tests.viz.sent import charts, sent_to
from viz.selection.catalogue import ROOT_VARIABLE
from viz.ui import long_work

TEXT = "The dog sleeps."


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    long_work._results.clear()
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


def test_a_sentence_that_is_too_long_leaves_the_table(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    # The page's own model reads as much as these do: only they refuse.
    from model.errors import InputTextError
    from viz.pages.paper.data import ablations

    def refuse(*_: object) -> None:
        raise InputTextError("The sentence has 200 tokens; at most 128 can be read.")

    monkeypatch.setattr(ablations, "trace", refuse)
    at(app, "Ablations", text=TEXT)
    until(app, lambda app: "200 tokens" in said(app))
    assert not app.main.multiselect
    assert "single\u00a0head" in said(app)


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
