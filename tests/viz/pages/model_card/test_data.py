"""What the model page knows of a checkpoint without a text."""

import pytest

from model.errors import CheckpointError
from tests.viz.reading import traced
from viz.access import models
from viz.pages.model_card import data
from viz.selection.selection import Selection

TEXT = "The animal was tired."


def test_shapes_begin_with_the_checkpoint_and_count_its_parameters(selection: Selection) -> None:
    shapes = data.shapes(selection.model)
    assert [name for name, _, _ in shapes] == ["en-de", "base (paper)", "big (paper)"]
    real = sum(parameter.numel() for parameter in models.translator(selection.model).model.parameters())
    assert shapes[0][2].total == real


def test_a_translation_is_the_one_of_the_trace(selection: Selection) -> None:
    translator = models.translator(selection.model)
    assert data.translation(translator, TEXT) == traced(TEXT, selection).translation


def test_a_checkpoint_without_a_record_says_nothing_of_its_making(selection: Selection) -> None:
    assert data.training(selection.model) is None
    assert data.training_log(selection.model) is None
    assert data.metrics(selection.model) is None
    assert data.card(selection.model) == "Random weights, for tests.\n"


def test_a_path_is_no_checkpoint_name(selection: Selection) -> None:
    for read in (data.training, data.card):
        with pytest.raises(CheckpointError):
            read(selection.changed(checkpoint="../en-de").model)
