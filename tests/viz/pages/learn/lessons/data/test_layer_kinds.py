"""What lessons count of the layers of Table 1, against the table's own formulas."""

import numpy as np
import pytest

from viz.pages.learn.lessons.data import layer_kinds
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Curves

TEXT = "The animal didn't cross the street because it was too tired."


def test_operations_are_those_of_table_1(shipped: Shipped) -> None:
    picture = layer_kinds.operations(shipped, width=512).picture
    assert isinstance(picture, Curves)
    n, d = picture.x, 512
    expected = {
        "self-attention": n * n * d,
        "recurrent": n * d * d,
        "convolution": 3 * n * d * d,
        "restricted": 9 * n * d,
    }
    assert set(picture.lines) == set(expected)
    for kind, values in picture.lines.items():
        np.testing.assert_allclose(values, expected[kind])


def test_convolutions_join_the_ends_of_a_sentence_when_their_reach_has_grown_to_it(shipped: Shipped) -> None:
    found = layer_kinds.in_turn(shipped, text=TEXT).found
    length, layers = int(found["length"]), int(found["convolution_layers"])
    assert layers == length - 1
    dilated = int(found["dilated_layers"])
    reach = [sum(3**depth for depth in range(count)) for count in (dilated - 1, dilated)]
    assert reach[0] < length - 1 <= reach[1]


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_each_convolution_brings_influence_one_position_further(shipped: Shipped, layers: int) -> None:
    assert layer_kinds.influence(shipped, kind="convolution", layers=layers).found["reach"] == layers


def test_the_farthest_look_is_that_of_the_weights(shipped: Shipped) -> None:
    weights = shipped.trace(TEXT).weights("encoder.self", 0).numpy()
    farthest = max(abs(int(row.argmax()) - at) for head in weights for at, row in enumerate(head))
    assert layer_kinds.looks_far(shipped, text=TEXT).found["farthest"] == farthest
