"""What lessons say of hidden units, additions and norms, computed once more from the model's own modules."""

from itertools import pairwise

import pytest
import torch

from model.nn.hooks import listen
from viz.pages.learn.lessons.data import stream
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars

TEXT = "The animal didn't cross the street because it was too tired."


def test_units_that_fire_are_those_above_zero(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    at = list(trace.source_tokens).index("▁it")
    with torch.inference_mode(), listen(record={"hook_hidden"}) as recorded:
        shipped.translator.model.encode(torch.tensor([trace.source_ids]))
    picture = stream.fired(shipped, text=TEXT, word="it").picture
    assert isinstance(picture, Bars)
    for layer, count in enumerate(picture.series["units"]):
        hidden = recorded[f"encoder.layers.{layer}.feed_forward.hook_hidden"][0][0, at]
        assert count == int((hidden > 0).sum())


def test_what_came_in_and_what_was_added_become_what_comes_in_next(shipped: Shipped) -> None:
    path = stream._path(shipped, TEXT, "it")
    parts = [part for layer in path.layers for part in layer]
    for part, following in pairwise(parts):
        torch.testing.assert_close(part.before + part.added, following.before, rtol=1e-4, atol=1e-4)


def test_a_norm_makes_every_spread_one(shipped: Shipped) -> None:
    picture = stream.normed(shipped, text=TEXT, layer=1).picture
    assert isinstance(picture, Bars)
    assert picture.series["after the norm"] == pytest.approx(1.0, abs=1e-3)
    assert picture.series["before the norm"].min() > 1.5
