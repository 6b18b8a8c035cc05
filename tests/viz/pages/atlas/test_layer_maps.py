"""Maps of heads: what is sent to the browser, what it may send back, and the scatter of heads."""

import json
from typing import Any

import numpy as np
import pytest

from model.analysis.atlas.head_distance import head_map, share_held
from viz.components.head_grid.component import HeadChoice
from viz.pages.atlas.layer_maps.component import HeadMap, pack_maps, read_map
from viz.pages.atlas.map_of_heads.figures import head_scatter, nearest, neighbours

VALUES = np.array([[0.5, np.nan], [1.0, 0.25]], np.float32)
MAPS = (HeadMap("a", "First", "bits", VALUES, 2), HeadMap("b", "Second", "", np.zeros((2, 2), np.float32), 1))
DISTANCES = np.array([[0, 1, 5, 5], [1, 0, 2, 2], [5, 2, 0, 3], [5, 2, 3, 0]], np.float32)


def header(payload: bytes) -> dict[str, Any]:
    return json.loads(payload[4 : 4 + int.from_bytes(payload[:4], "little")])


def test_numbers_texts_and_shades_are_sent_in_the_order_of_layers() -> None:
    sent = header(pack_maps(MAPS, "a", HeadChoice(1, 0), "file"))
    assert (sent["layers"], sent["heads"], sent["chosen"], sent["selected"]) == (2, 2, "a", [1, 0])
    first, second = sent["maps"]
    assert first["texts"] == ["0.50", "–", "1.00", "0.25"]
    assert first["shades"] == [0.5, None, 1.0, 0.25]
    assert (first["high"], second["high"]) == ("1.00", "0.0")
    assert second["shades"] == [0.0] * 4


def test_another_choice_is_the_same_picture_and_other_numbers_are_another() -> None:
    one, other = (header(pack_maps(MAPS, key, HeadChoice(0, 0), "x"))["digest"] for key in "ab")
    assert one == other
    changed = HeadMap("a", "First", "bits", VALUES + 1, 2)
    assert header(pack_maps((changed, MAPS[1]), "a", HeadChoice(0, 0), "x"))["digest"] != one


@pytest.mark.parametrize("value", [None, "a", {}, {"key": 1}, {"key": "c"}, {"key": None}])
def test_what_the_browser_must_not_say_is_nothing(value: object) -> None:
    assert read_map(value, MAPS) is None


def test_a_map_that_exists_is_taken() -> None:
    assert read_map({"key": "b"}, MAPS) == "b"


def test_the_nearest_heads_come_first_and_of_equal_ones_the_first() -> None:
    np.testing.assert_array_equal(nearest(DISTANCES, 2), [[1, 2], [0, 2], [1, 3], [1, 2]])
    assert neighbours(DISTANCES, 2)[2] == "1.2 (2.00), 2.2 (3.00), 1.1 (5.00)"
    assert neighbours(np.zeros((1, 1), np.float32), 1) == ["none"]


def test_points_carry_their_head_number_and_neighbours_and_the_ring_lies_on_the_chosen_one() -> None:
    places = np.arange(8, dtype=float).reshape(2, 2, 2)
    figure = head_scatter(places, VALUES, DISTANCES, name="first", shown=["a", "b", "c", "d"], selected=(1, 0))
    ring, points = figure.data
    assert (ring.x[0], ring.y[0]) == (4, 5)
    assert list(points.text) == ["1.1", "1.2", "2.1", "2.2"]
    assert list(points.customdata[2][:3]) == [1, 0, "c"]
    assert np.isnan(points.marker.color[1])
    assert points.marker.cmax == 1.0
    # 1.1 and 1.2 are nearest to one another: their names stand on opposite sides.
    assert points.textposition[0] != points.textposition[1]
    assert figure.layout.yaxis.scaleanchor == "x"


def test_a_map_of_distances_in_a_plane_loses_nothing_and_one_of_a_simplex_does() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(6, 2))
    squares = ((flat[:, None] - flat[None]) ** 2).sum(-1)
    assert share_held(squares, head_map(squares)) == pytest.approx(1.0)
    simplex = 1.0 - np.eye(6)
    # A regular simplex of 6 corners has 5 equal directions; the plane holds 2 of them.
    assert share_held(simplex, head_map(simplex)) == pytest.approx(2 / 5)
    assert np.isnan(share_held(np.zeros((3, 3)), np.zeros((3, 2))))
