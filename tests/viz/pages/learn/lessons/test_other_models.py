"""Lessons on a model that nobody trained: each step can be told, or is an error that says what is lacking."""

from pathlib import Path

import pytest

from model.errors import HeadlightError
from viz.access import models
from viz.pages.learn.lessons import data, lesson
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import holds, lessons
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.model_choice import ModelChoice


@pytest.mark.parametrize("name", lessons())
def test_every_step_can_be_told_or_says_what_is_lacking(
    name: str, experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    choice = ModelChoice("en-de")
    shipped = Shipped(choice, models.translator(choice))
    for number, step in enumerate(lessons()[name].steps, 1):
        try:
            found = data.view(shipped, lessons()[name], number).found
        except HeadlightError:
            continue
        assert {holds(claim, found) for claim in step.claims} <= {True, False}
        assert "{" not in lesson.filled(step.text, found)
        if step.question is not None:
            assert step.question.answer in found
            assert "{" not in lesson.filled(step.question.because, found)
