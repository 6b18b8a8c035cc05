"""Lessons on the page: the address, the question before the picture, and models that lack what a lesson shows."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters.marian_folders import write_marian
from tests.often import often
from tests.paths import ROOT
from tests.viz.page_run import healthy, opened, run_page
from tests.viz.sent import charts, sent_to, unlinked
from viz.pages.learn.lessons.lesson import lessons
from viz.selection import catalogue
from viz.selection.catalogue import ROOT_VARIABLE
from viz.text import messages


def at(app: AppTest, lesson: str, step: int, **choices: object) -> AppTest:
    for field, value in {"lesson": lesson, "step_of_lesson": step, **choices}.items():
        app.query_params[field] = str(value)
    return run_page(app, "learn")


def question_step() -> tuple[str, int]:
    """The first step with a question whose picture is a chart for any model."""
    return next(
        (name, number)
        for name, lesson in lessons().items()
        for number, step in enumerate(lesson.steps, 1)
        if step.question is not None and step.view == "operations"
    )


def test_the_page_opens_on_the_first_step_of_the_first_lesson_with_its_question(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    opened(app, "learn")
    first = next(iter(lessons().values()))
    assert app.subheader[0].value == first.steps[0].title
    assert app.pills(key="answer").options
    assert app.query_params["lesson"] == first.name


def test_the_picture_waits_for_the_prediction_and_the_model_says_whether_it_was_right(app: AppTest) -> None:
    name, number = question_step()
    at(app, name, number)
    assert not charts(app)
    for option, (right, wrong) in {1: (1, 0), 2: (0, 1)}.items():
        app.pills(key="answer").set_value(option).run()
        healthy(app)
        assert len(charts(app)) == 1
        assert (len(app.success), len(app.warning)) == (right, wrong)
    app.pills(key="answer").set_value(None).run()
    assert not charts(app)


def test_next_goes_on_into_the_next_lesson_and_forgets_the_answer(app: AppTest) -> None:
    names = list(lessons())
    last = len(lessons()[names[0]].steps)
    at(app, names[0], last, answer=1)
    app.button(key="lesson-next").click().run()
    assert app.subheader[0].value == lessons()[names[1]].steps[0].title
    app.button(key="lesson-back").click().run()
    assert app.subheader[0].value == lessons()[names[0]].steps[-1].title


@pytest.mark.parametrize(
    ("params", "lesson", "step"),
    [
        ({"lesson": "none"}, "one-sentence", 1),
        ({"step": "99"}, "scaled-dot-product", -1),
        ({"step": "0"}, "scaled-dot-product", 1),
        ({"answer": "77", "step": "2"}, "scaled-dot-product", 2),
    ],
)
def test_a_link_to_what_does_not_exist_opens_the_nearest_that_does(
    app: AppTest, params: dict[str, str], lesson: str, step: int
) -> None:
    at(app, **{"lesson": "scaled-dot-product", "step": 1, **params})  # type: ignore[arg-type]
    assert not app.exception
    assert app.subheader[0].value == lessons()[lesson].steps[step - 1 if step > 0 else step].title


@pytest.mark.parametrize("name", often(lessons(), ("one-sentence", "scaled-dot-product", "it")))
def test_no_lesson_breaks_with_models_that_know_nothing(
    app: AppTest, experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Claims do not hold then, and the page says so."""
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    for number in range(1, len(lessons()[name].steps) + 1):
        at(app, name, number, answer=1) if number == 1 else None
        app.selectbox(key="lesson_step").set_value(number).run()
        assert not app.exception, (number, app.exception[0].value)
        assert app.subheader[0].value == lessons()[name].steps[number - 1].title


def cautions(app: AppTest) -> list[str]:
    return [
        unlinked(one.value).replace("\\", "") for one in app.caption if unlinked(one.value).startswith(":material/")
    ]


def test_a_lesson_says_of_which_model_its_numbers_are_where_another_one_is_chosen(
    app: AppTest, experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    first = next(iter(catalogue.server_models()))
    assert not cautions(healthy(at(app, *question_step(), checkpoint=first)))
    app.sidebar.selectbox(key="checkpoint").set_value("experiments/full").run()
    (caution,) = cautions(healthy(app))
    assert f"numbers use {first}," in caution
    assert caution.endswith("the other pages show Small model: full.")


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_a_lesson_on_a_model_that_reads_no_english_says_so(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_marian(tmp_path / "opus-mt-zh-en", languages=("zho", "eng"))
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    at(app, *question_step())
    assert not app.exception
    assert "only for Transformers that Headlight runs itself" in app.error[0].value
    (caution,) = cautions(app)
    assert "run on opus-mt-zh-en" in caution
    assert "which reads Chinese" in caution
    assert f"without {ROOT_VARIABLE}" in caution


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_lessons_run_on_the_first_transformer_of_ours_whatever_is_before_it_on_the_list(
    app: AppTest, experiment_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_marian(tmp_path / "a-library-model", languages=("zho", "eng"))
    for preset, name in {"gru": "b-recurrent", "full": "c-own"}.items():
        shutil.copytree(experiment_checkpoints / catalogue.EXPERIMENTS / preset, tmp_path / name)
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert list(catalogue.server_models()) == ["a-library-model", "b-recurrent", "c-own"]
    healthy(at(app, *question_step()))
    (caution,) = cautions(app)
    assert "numbers use c-own," in caution
    assert caution.endswith("the other pages show a-library-model.")


def test_the_full_page_opens_on_what_the_step_shows(app: AppTest) -> None:
    at(app, "many-heads", 2)
    assert sent_to(app, "matrix_picture")
    app.button(key="lesson-full").click().run()
    healthy(app)
    assert app.title[0].value == "Attention"
    assert app.sidebar.text_area[0].value == lessons()["many-heads"].steps[1].given["text"]


@pytest.mark.parametrize("language", messages.languages())
def test_a_wrong_prediction_is_answered_by_the_option_that_is_right(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    at(app, "look-up", 7, answer=1, lang=language)
    healthy(app)
    step = lessons()["look-up"].steps[6]
    assert step.question is not None
    with messages.speaking(language):
        title, right = messages._(step.title), messages._(step.question.options[2])
        wrong = messages._(step.question.wrong[0]).partition("{")[0]
    assert app.subheader[0].value == title
    assert right in unlinked(app.warning[0].value)
    assert any(unlinked(one.value).startswith(wrong) for one in app.markdown)
