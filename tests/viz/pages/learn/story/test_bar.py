"""The story "Start here": what its steps say is computed, and where its bar is seen."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import app_of, opened
from tests.viz.sent import sent_to
from viz.access import findings, models, traces
from viz.pages.learn.lessons import data
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import filled_plainly, holds
from viz.pages.learn.story.bar import story
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.selection.selection import Selection
from viz.text import messages

STEPS = range(1, len(story().steps) + 1)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app as it ships."""
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    return app_of()


@pytest.mark.parametrize("number", STEPS)
def test_the_shipped_model_bears_a_step_out_and_fills_it_in_every_language(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    step, choice = story().steps[number - 1], ModelChoice("en-de")
    found = data.view(Shipped(choice, models.translator(choice)), story(), number).found
    assert [claim for claim in step.claims if not holds(claim, found)] == []
    # No number stands in the file, and each step has some that the model computes.
    assert not re.search(r"\d", re.sub(r"\{[^}]*\}", "", step.text))
    for language in messages.languages():
        with messages.speaking(language):
            text = filled_plainly(step.text, found)
        assert "{" not in text
        assert text.count("**") in (2, 4)


def test_the_weight_that_is_told_is_that_of_the_finding_on_which_the_page_opens(app: AppTest) -> None:
    opened(app, story=1)
    ((shown, _),) = sent_to(app, "story_bar")
    assert (shown["step"], shown["isSeen"], shown["model"]) == (1, True, "")
    reader = models.reader(ModelChoice())
    trace = traces.trace(reader, Selection().common.text)
    link = findings.finding(trace, ModelChoice()).link
    assert link is not None
    assert f"{link.weight:.1%}" in shown["parts"]
    assert shown["ends"] == ["learn", "explore", "model"]


@pytest.mark.parametrize(
    ("page", "address"),
    [("attention", {"present": 1}), ("attention", {"view": "Why"}), ("decoding", {}), ("attention", {"story": 0})],
)
def test_the_bar_is_seen_on_its_own_tab_alone_and_never_presented(
    app: AppTest, page: str, address: dict[str, object]
) -> None:
    opened(app, page, **{"story": 1, **address})
    assert sent_to(app, "story_bar") == []


def test_a_model_without_the_word_of_a_step_says_so(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = opened(app_of(), story=1)
    ((shown, _),) = sent_to(app, "story_bar")
    assert "needs the word “es”" in shown["parts"][0]


def test_without_a_translator_there_is_no_story(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bert").symlink_to(folders / "bert")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    app = opened(app_of(), story=2)
    assert sent_to(app, "story_bar") == []
    assert "story" not in app.query_params
