"""Maps of heads: what is sent to the browser, and what it may send back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.viz.sent import caught, unpack
from viz.pages.atlas.layer_maps.tab import HeadMaps, head_maps
from viz.pages.atlas.view import HeadMap
from viz.pictures.head_grid.component import HeadChoice
from viz.pictures.payload import pack
from viz.text.sites import ENCODER

VALUES = np.array([[0.5, np.nan], [1.0, 0.25]], np.float32)
MAPS = (HeadMap("a", "First", "bits", VALUES, 2), HeadMap("b", "Second", "", np.zeros((2, 2), np.float32), 1))


def header(maps: Sequence[HeadMap], chosen: str, selected: HeadChoice, name: str) -> dict[str, Any]:
    return unpack(pack(HeadMaps(ENCODER, maps, chosen, selected, name)))[0]


def test_numbers_texts_and_shades_are_sent_in_the_order_of_layers() -> None:
    sent = header(MAPS, "a", HeadChoice(1, 0), "file")
    assert (sent["layers"], sent["heads"], sent["chosen"], sent["selected"]) == (2, 2, "a", [1, 0])
    first, second = sent["maps"]
    assert first["texts"] == ["0.50", "–", "1.00", "0.25"]
    assert first["shades"] == [0.5, None, 1.0, 0.25]
    assert (first["high"], second["high"]) == ("1.00", "0.0")
    assert second["shades"] == [0.0] * 4


def test_a_metric_that_chance_gives_a_number_is_coloured_as_far_below_it_as_above() -> None:
    centred = HeadMap("c", "Centred", "", np.array([[0.5, 0.8], [0.4, np.nan]], np.float32), 2, centre=0.5)
    (sent,) = header((centred,), "c", HeadChoice(0, 0), "file")["maps"]
    assert (sent["low"], sent["high"], sent["isCentred"]) == ("0.20", "0.80", True)
    assert sent["shades"] == pytest.approx([0.5, 1.0, 1 / 3, None], abs=1e-3)


def test_another_choice_is_the_same_picture_and_other_numbers_are_another() -> None:
    one, other = (header(MAPS, key, HeadChoice(0, 0), "x")["digest"] for key in "ab")
    assert one == other
    changed = HeadMap("a", "First", "bits", VALUES + 1, 2)
    assert header((changed, MAPS[1]), "a", HeadChoice(0, 0), "x")["digest"] != one


@pytest.mark.parametrize("value", [None, "a", {}, {"key": 1}, {"key": "c"}, {"key": None}])
def test_only_a_map_or_a_head_that_exists_is_taken(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, maps, heads = caught(monkeypatch), list[str](), list[HeadChoice]()
    head_maps(HeadMaps(ENCODER, MAPS, "a", HeadChoice(0, 0), "x"), on_map=maps.append, on_head=heads.append, key="maps")
    shown[0].answers["map"](value)
    shown[0].answers["head"]({"layer": 2, "head": 0})
    assert (maps, heads) == ([], [])
    shown[0].answers["map"]({"key": "b"})
    shown[0].answers["head"]({"layer": 1, "head": 0})
    assert (maps, heads) == (["b"], [HeadChoice(1, 0)])
