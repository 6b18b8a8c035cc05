"""What people read about metrics, jobs and measures of heads."""

import re

import numpy as np
import pytest

from model.analysis.metrics.head_jobs import HeadJob
from viz.access.findings import HeadJobs
from viz.pictures.head_grid.component import HeadChoice, Ranking, TileMetric
from viz.text.messages import speaking
from viz.text.written import SITES
from viz.ui.head_metrics import on_tiles, ranking, sentence, signs_said, tile_metric

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


def test_highest_first_and_of_equal_ones_the_first_by_layer_and_those_without_a_number_last() -> None:
    found = ranked("highest", 0)
    assert found.heads == heads((1, 0), (0, 0), (1, 1), (1, 2), (0, 1), (0, 2))
    assert "all 6" in found.note
    # Lowest first keeps as many as are asked for, and says so.
    found = ranked("lowest", 4)
    assert found.heads == heads((0, 1), (1, 2), (0, 0), (1, 1))
    assert "lowest to the highest" in found.note
    assert "the first 4 of 6" in found.note
    # Layer by layer is no ranking.
    assert ranking(drawn("first", SITES[0], VALUES), "layers", 4) is None


FOLLOWS = HeadJob("antecedent", 0.722, 0.651, 0.785)
MEASURED = HeadJobs({(0, 1): (FOLLOWS, HeadJob("same", 0.41, 0.40, 0.42))}, 200)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_of_jobs_says_a_word_twice_in_a_row(language: str) -> None:
    alone = HeadJobs({(0, 0): (HeadJob("antecedent", 0.5),)}, 0)
    with speaking(language):
        told = [sentence(measured, 0, head) for measured in (MEASURED, alone) for head in range(2)]
    assert not [said for said in told if re.search(r"\b([^\W\d]{2,}) \1\b|([^\W\d\x00-\x7f]{2,})\2", said)]


def test_the_sentence_has_all_jobs_with_their_intervals_and_says_what_was_measured() -> None:
    said = sentence(MEASURED, 0, 1)
    assert "**follows antecedents** 0.72 (0.65 to 0.79); **same token** 0.41 (0.40 to 0.42)" in said
    assert "over 200 sentences" in said
    assert "none" in sentence(MEASURED, 0, 0)
    alone = HeadJobs({(0, 0): (HeadJob("next", 0.5),)}, 0)
    assert sentence(alone, 0, 0) == "Job, measured in this sentence only: **next token** 0.50."
    # Tiles carry a word, and say the number on hover.
    tiles = on_tiles(MEASURED, (1, 2))
    assert tiles is not None
    assert tiles.signs == ("", "↪")
    assert (tiles.said, tiles.intervals) == (("", "follows antecedents 0.72"), ("", " (0.65 to 0.79)"))
    assert on_tiles(HeadJobs({}, 200), (1, 2)) is None
    assert on_tiles(None, (1, 2)) is None
    # Each word that stands under a tile is explained once, and no other.
    aligns = (HeadJob("aer_word_in", 0.5),)
    measured = HeadJobs({(0, 1): MEASURED.of_heads[0, 1], (1, 0): aligns, (1, 1): aligns}, 200)
    assert signs_said(measured).endswith(": ↪ follows antecedents · ⇇ aligns token read.")
    assert signs_said(HeadJobs({}, 200)) == signs_said(None) == ""
