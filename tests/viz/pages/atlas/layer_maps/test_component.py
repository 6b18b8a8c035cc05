"""Maps of heads: what is sent to the browser, and what it may send back."""

import json
from typing import Any

import numpy as np
import pytest

from viz.components.head_grid.component import HeadChoice
from viz.pages.atlas.layer_maps.component import pack_maps, read_map
from viz.pages.atlas.view import HeadMap

VALUES = np.array([[0.5, np.nan], [1.0, 0.25]], np.float32)
MAPS = (HeadMap("a", "First", "bits", VALUES, 2), HeadMap("b", "Second", "", np.zeros((2, 2), np.float32), 1))


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


def test_a_metric_that_chance_gives_a_number_is_coloured_as_far_below_it_as_above() -> None:
    centred = HeadMap("c", "Centred", "", np.array([[0.5, 0.8], [0.4, np.nan]], np.float32), 2, centre=0.5)
    (sent,) = header(pack_maps((centred,), "c", HeadChoice(0, 0), "file"))["maps"]
    assert (sent["low"], sent["high"], sent["isCentred"]) == ("0.20", "0.80", True)
    assert sent["shades"] == pytest.approx([0.5, 1.0, 1 / 3, None], abs=1e-3)


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
