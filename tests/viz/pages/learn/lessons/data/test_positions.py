"""What lessons say of positions: the paper's formula, and what a rotation makes of it."""

import math

import numpy as np
import pytest

from viz.pages.learn.lessons.data import positions
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Curves, Rows
from viz.pictures.matrix_picture.component import MatrixData


def test_encodings_are_those_of_the_formula(shipped: Shipped) -> None:
    picture = positions.encodings(shipped, positions=40).picture
    assert isinstance(picture, MatrixData)
    assert picture.values[7, 20] == pytest.approx(math.sin(7 / 10_000 ** (20 / 256)), abs=1e-6)
    assert (picture.scale.low, picture.scale.high) == (-1, 1)
    assert picture.values[7, 21] == pytest.approx(math.cos(7 / 10_000 ** (20 / 256)), abs=1e-6)


def test_the_likeness_of_two_positions_is_their_dot_product(shipped: Shipped) -> None:
    table, curve = positions.encodings(shipped, positions=40).picture, positions.likeness(shipped, distance=20).picture
    assert isinstance(table, MatrixData)
    assert isinstance(curve, Curves)
    for first, second in ((0, 9), (30, 13)):
        product = float(table.values[first].astype(float) @ table.values[second])
        assert curve.lines["dot product"][curve.x == second - first] == pytest.approx(product, abs=1e-3)


def test_turned_pairs_are_those_of_the_shifted_position(shipped: Shipped) -> None:
    picture = positions.shift(shipped, position=10, by=3).picture
    assert isinstance(picture, Rows)
    turned, shifted = (
        np.array([[float(number) for number in str(row[column]).split(",")] for row in picture.rows])
        for column in (3, 4)
    )
    np.testing.assert_allclose(turned, shifted, atol=1.1e-3)


def test_a_model_without_positions_reads_two_orders_of_the_same_words_alike(shipped: Shipped) -> None:
    texts = ("Mary loves Tom.", "Tom loves Mary.")
    views = [positions.backwards(shipped, text=text, presets=["no-positions"]).found for text in texts]
    assert views[0]["no_positions"] == views[1]["no_positions"]
