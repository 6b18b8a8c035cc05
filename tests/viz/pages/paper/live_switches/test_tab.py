"""Live switches on the page: the sentence without each part, and BLEU over the corpus."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at, said, started, until
from tests.viz.sent import charts
from viz.pages.paper.data import ablations


def opened(app: AppTest, **choices: object) -> AppTest:
    at(app, "Live switches", text="The dog sleeps.", **choices)
    return until(app, lambda app: app.get("html") and "Removed" in said(app))


def test_the_sentence_is_translated_without_each_part(app: AppTest) -> None:
    shown = said(opened(app))
    for name in ("No positions", "No division by √dₖ", "Only H1 of each attention", "No residual", "No layer norms"):
        assert name in shown
    assert "not the same as training without it" in shown


def test_the_layer_and_the_head_that_stays_can_be_chosen(app: AppTest) -> None:
    opened(app)
    healthy(app.selectbox(key="kept_head").set_value(3).run())
    until(app, lambda app: "Only H4 of each attention" in said(app))
    healthy(app.selectbox(key="off_layer").set_value(2).run())
    until(app, lambda app: "removed from layer 2" in said(app))
    assert (app.query_params["kept"], app.query_params["without"]) == ("3", "2")


def test_a_layer_and_a_head_that_are_not_there_become_the_first(app: AppTest) -> None:
    opened(app, without=99, kept=99)
    assert (app.selectbox(key="off_layer").value, app.selectbox(key="kept_head").value) == (0, 0)


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
