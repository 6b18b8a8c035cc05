"""What lessons say of training: the schedule by its equation, losses by torch's own, dropout by its definition."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from viz.pages.learn.lessons.data import training
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars, Curves

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize(("step", "expected"), [(1_000, 512**-0.5 * 1_000 * 4_000**-1.5), (25_600, 512**-0.5 / 160)])
def test_the_schedule_is_that_of_equation_3(shipped: Shipped, step: int, expected: float) -> None:
    picture = training.schedule(shipped, others=[1_000]).picture
    assert isinstance(picture, Curves)
    own = next(iter(picture.lines.values()))
    assert own[picture.x == step] == pytest.approx(expected)


def test_the_loss_of_a_step_is_that_of_torch(shipped: Shipped) -> None:
    found = training.smoothed(shipped, text=TEXT, word="es", percent=10).found
    trace = shipped.trace(TEXT)
    at = next(row for row, step in enumerate(trace.steps) if step.token == "▁es")
    with torch.inference_mode():
        logits = shipped.translator.model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0, at]
    right = torch.tensor(trace.steps[at].token_id)
    assert found["smoothed_loss"] == pytest.approx(float(F.cross_entropy(logits, right, label_smoothing=0.1)), rel=1e-4)
    assert found["loss"] == pytest.approx(float(F.cross_entropy(logits, right)), rel=1e-3)


@pytest.mark.parametrize("index", [0, 50, 100])
def test_the_loss_over_certainty_is_that_of_torch(shipped: Shipped, index: int) -> None:
    picture = training.loss_over_certainty(shipped, percent=10).picture
    assert isinstance(picture, Curves)
    vocabulary, p = shipped.translator.config.vocab_size, picture.x[index]
    said = np.full(vocabulary, (1 - p) / (vocabulary - 1))
    said[7] = p
    log_probs = torch.tensor(np.log(said))
    for values, smoothing in zip(picture.lines.values(), (0.0, 0.1), strict=True):
        expected = F.cross_entropy(log_probs, torch.tensor(7), label_smoothing=smoothing)
        assert values[index] == pytest.approx(float(expected))


def test_dropout_zeroes_some_numbers_and_scales_the_others(shipped: Shipped) -> None:
    picture = training.dropout(shipped, text=TEXT, word="animal", percent=10).picture
    assert isinstance(picture, Bars)
    before, after = picture.series.values()
    kept = after != 0
    assert 0 < (~kept).sum() < len(kept) / 2
    assert after[kept] == pytest.approx(before[kept] / 0.9)
