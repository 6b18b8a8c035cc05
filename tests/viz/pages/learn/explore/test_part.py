"""Explore below a step: when it is there, about whom it speaks, and that neither part takes the other along."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters import zoo
from tests.viz.page_run import app_of, healthy, opened, run_page, said
from tests.viz.pages.learn.explore.opening import place
from viz.pages.learn.explore import TOPICS
from viz.pages.learn.lessons.lesson import lessons
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.url import EXPLORED


def test_each_topic_is_named_by_the_step_where_it_is_at_home() -> None:
    assert {topic: lessons()[lesson].steps[step - 1].explore for topic, (lesson, step) in EXPLORED.items()} == {
        topic: topic for topic in TOPICS
    }


def test_it_is_computed_only_while_it_is_open_and_closes_at_the_next_step(app: AppTest) -> None:
    opened(app, "learn", lesson="positions", step_of_lesson=3, position=5)
    assert "Explore: Positions" in [one.label for one in app.expander]
    assert "One position, one dimension" not in [one.value for one in app.subheader]
    # The step's own button unfolds it.
    healthy(app.button(key="lesson-full").click().run())
    assert "One position, one dimension" in [one.value for one in app.subheader]
    assert app.query_params["explore"] == "True"
    assert app.slider(key="position").value == 5
    healthy(app.button(key="lesson-next").click().run())
    assert "explore" not in app.query_params
    healthy(app.selectbox(key="lesson").set_value("many-heads").run())
    assert not [one for one in app.expander if one.label.startswith("Explore")]


def test_a_link_of_another_step_leads_to_the_home_of_its_topic(app: AppTest) -> None:
    opened(app, "learn", lesson="often-said", step_of_lesson=1)
    steps = lessons()["often-said"].steps
    number = next(number for number, step in enumerate(steps, 1) if step.view == "saturated")
    healthy(app.selectbox(key="lesson_step").set_value(number).run())
    healthy(app.pills(key="answer").set_value(1).run())
    healthy(app.button(key="lesson-full").click().run())
    assert (app.query_params["lesson"], app.query_params["explore"]) == (EXPLORED["scores"][0], "True")
    assert app.sidebar.text_area[0].value == steps[number - 1].given["text"]


def test_an_error_in_it_leaves_the_lesson(app: AppTest) -> None:
    app = run_page(app_of(text="word " * 2_000, **place("positions")), "learn")
    assert not app.exception
    assert "too long" in app.error[0].value
    assert app.button(key="lesson-next").label == "Next step"


def test_of_a_model_that_runs_no_lesson_masks_and_positions_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoo.tiny("gpt2").save_pretrained(tmp_path / "gpt2")
    zoo.save_tokenizer(tmp_path / "gpt2", "bytes")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    for topic, name in (("masks", "no key after the query (causal)"), ("positions", "Learned positions.")):
        app = run_page(app_of(**place(topic)), "learn")
        assert not app.exception
        assert name in said(app)
        # The lesson needs the translator that ships; it alone says so.
        assert len(app.error) == 1
