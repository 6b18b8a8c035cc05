"""What people read about metrics of heads, and heads ranked by them."""

import numpy as np
import pytest

from viz.pictures.head_grid.component import HeadChoice, Ranking, TileMetric
from viz.selection.attention import KEPT, METRICS
from viz.text.sites import SITES
from viz.ui.head_metrics import TEXTS, labels, ranking, tile_metric, why_none

VALUES = np.array([[0.5, 0.1, np.nan], [0.9, 0.5, 0.2]])


def heads(*pairs: tuple[int, int]) -> tuple[HeadChoice, ...]:
    return tuple(HeadChoice(*pair) for pair in pairs)


def drawn(key: str, site: str, values: np.ndarray) -> TileMetric:
    metric = tile_metric(key, site, values)
    assert metric is not None
    return metric


def ranked(order: str, keep: int) -> Ranking:
    heads = ranking(drawn("first", SITES[0], VALUES), order, keep)
    assert heads is not None
    return heads


def test_every_metric_of_heads_has_a_name() -> None:
    assert (*labels(), KEPT) == METRICS


def test_highest_first_and_of_equal_ones_the_first_by_layer_and_those_without_a_number_last() -> None:
    found = ranked("highest", 0)
    assert found.heads == heads((1, 0), (0, 0), (1, 1), (1, 2), (0, 1), (0, 2))
    assert "all 6" in found.note


def test_lowest_first_keeps_as_many_as_asked_for_and_says_so() -> None:
    found = ranked("lowest", 4)
    assert found.heads == heads((0, 1), (1, 2), (0, 0), (1, 1))
    assert "lowest to the highest" in found.note
    assert "the first 4 of 6" in found.note


def test_layer_by_layer_is_no_ranking() -> None:
    assert ranking(drawn("first", SITES[0], VALUES), "layers", 4) is None


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("key", TEXTS)
def test_a_metric_says_what_it_means_and_what_the_longest_bar_is(key: str, site: str) -> None:
    metric = drawn(key, site, VALUES * 2)
    assert metric.note.startswith(f"{metric.name}: ")
    assert metric.note.endswith(f"{1.8:.{metric.decimals}f} {metric.unit}".rstrip() + ".")


def test_cross_attention_measures_from_the_diagonal() -> None:
    assert "diagonal" in drawn("distance", "decoder.cross", VALUES).note
    assert "diagonal" not in drawn("distance", "encoder.self", VALUES).note


@pytest.mark.parametrize(
    ("key", "site", "words"),
    [
        ("previous", "decoder.cross", "one sentence to another"),
        ("next", "decoder.self", "not written"),
        ("punctuation", "encoder.self", "no token"),
    ],
)
def test_a_metric_that_no_head_has_is_left_out_and_the_reason_told(key: str, site: str, words: str) -> None:
    assert tile_metric(key, site, np.full((2, 2), np.nan)) is None
    assert words in why_none(key, site)
