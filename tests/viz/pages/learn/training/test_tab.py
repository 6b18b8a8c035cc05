"""The tab Training: each of its parts, its controls, and models that have no reference."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import charts, sent_to
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(learn="Training", text="The dog sleeps.")


def said(app: AppTest) -> str:
    return " ".join(element.value for element in (*app.markdown, *app.caption, *app.info))


def test_smoothing_moves_the_target_and_what_is_said_of_the_gradient(app: AppTest) -> None:
    opened(app, "learn")
    (chart,) = charts(app)
    assert [trace["name"] for trace in chart["data"]] == ["one-hot target", "smoothed target", "the model"]
    assert "0.9" in said(app)
    healthy(app.slider(key="smoothing").set_value(0).run())
    assert "always raises the probability of the right token" in said(app)
    assert app.query_params["epsilon"] == "0"


def test_the_schedule_has_the_paper_s_models_beside_it_and_says_where_no_log_lies(app: AppTest) -> None:
    opened(app, "learn", training="Warm-up", schedule_width=256, schedule_warmup=1_000)
    chart = charts(app)[0]
    assert [trace["name"] for trace in chart["data"]][-1] == "chosen"
    assert f"{(256 * 1_000) ** -0.5:.2e}" in said(app)
    assert "has no training log" in said(app)


def test_two_films_stand_where_they_part_and_follow_another_reference(app: AppTest) -> None:
    opened(app, "learn", training="Teacher forcing")
    ((header, _),) = sent_to(app, "two_films")
    at = header["command"]["step"]
    assert header["forced"][at]["asked"] != header["free"][at]["written"]
    healthy(app.text_input(key="forced_reference").set_value("Das Tier").run())
    ((header, _),) = sent_to(app, "two_films")
    assert [step["asked"] for step in header["forced"]][-1] == "</s>"
    assert app.query_params["reference"] == "Das Tier"


def test_a_reference_that_is_too_long_is_refused_by_a_sentence(app: AppTest) -> None:
    opened(app, "learn", training="Teacher forcing")
    app.text_input(key="forced_reference").set_value("Tier " * 300).run()
    assert not app.exception
    assert len(app.error) == 1


@pytest.mark.parametrize("params", [{"forced": 999}, {"target_of": 999}, {"epsilon": 999}, {"schedule_width": 1}])
def test_numbers_of_a_link_that_do_not_exist_become_those_that_do(app: AppTest, params: dict[str, int]) -> None:
    for view in ("Label smoothing", "Warm-up", "Teacher forcing"):
        healthy(opened(app_of(learn="Training", text="The dog sleeps.", training=view, **params), "learn"))
