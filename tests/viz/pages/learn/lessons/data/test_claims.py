"""What is often said of the Transformer, computed once more in another way."""

import numpy as np
import pytest
import torch
from torch import nn

from model.nn.edits import SwitchOff
from viz.pages.learn.lessons.data import claims
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars, Rows

TEXT = "The animal didn't cross the street because it was too tired."
LAYERS = 6
TWIN = "The animal didn't cross the street because it was too wide."


def test_keys_of_cross_attention_are_the_memory_times_their_matrix(shipped: Shipped) -> None:
    translator = shipped.translator
    trace = shipped.trace(TEXT)
    linear = translator.model.get_submodule("decoder.layers.1.cross_attention.key")
    assert isinstance(linear, nn.Linear)
    with torch.inference_mode():
        expected = linear(translator.model.encode(torch.tensor([trace.source_ids])))[0]
    np.testing.assert_allclose(claims._keys(trace, 1), expected.numpy(), atol=1e-5)
    for other in (TWIN, "Tom sleeps."):
        view = claims.keys_of_memory(shipped, text=TEXT, target="Ich weiß es nicht.", other=other)
        assert view.found["recomputed"] < 1e-5  # type: ignore[operator]
        both = [[claims._keys(of, layer) for of in (trace, shipped.trace(other))] for layer in range(LAYERS)]
        apart = [max(np.abs(a - b).max() for a, b in zip(*keys, strict=False)) for keys in both]
        assert view.found["other_source"] == pytest.approx(max(apart))
        assert isinstance(view.picture, Rows)
        assert [row[3] for row in view.picture.rows] == [f"{difference:.2f}" for difference in apart]


def test_switching_off_the_strongest_head_is_one_run_without_it(shipped: Shipped) -> None:
    picture = claims.strongest_off(shipped, text=TEXT).picture
    assert isinstance(picture, Rows)
    trace = shipped.trace(TEXT)
    weights = np.stack([trace.weights("decoder.cross", layer).numpy() for layer in range(LAYERS)])
    row = 1
    layer, head, _ = map(int, np.unravel_index(weights[:, :, row].argmax(), weights[:, :, row].shape))
    ids = [step.token_id for step in trace.steps]
    off = [SwitchOff("decoder.cross", layer, head)]
    expected = shipped.translator.trace_tokens(TEXT, ids, edits=off).steps[row].log_prob
    assert picture.rows[row][1] == f"L{layer + 1} H{head + 1}"
    assert picture.rows[row][5] == f"{np.exp(expected):.2f}"


def test_rows_saturate_where_a_softmax_of_the_plain_dot_products_does(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    picture = claims.saturated(shipped, text=TEXT).picture
    assert isinstance(picture, Bars)
    expected = 0
    for layer in range(trace.layers_of("encoder.self")):
        inputs = trace.attention("encoder.self", layer)
        weights = (inputs.query @ inputs.key.transpose(-1, -2)).softmax(-1)
        expected += int((weights.amax(-1) > claims.SATURATED).sum())
    assert picture.series["not divided"][0] == pytest.approx(expected, abs=1)


def test_the_share_of_a_word_is_the_mean_over_heads(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    tokens = list(trace.source_tokens)
    it, animal = tokens.index("▁it"), tokens.index("▁animal")
    weights = torch.stack([trace.weights("encoder.self", layer)[:, it] for layer in range(LAYERS)])
    found = claims.shares(shipped, text=TEXT, site="encoder.self", word="it", key="animal").found
    assert found["mean"] == pytest.approx(float(weights[..., animal].mean()))
    assert found["largest_in"] == int((weights.argmax(-1) == animal).sum())
