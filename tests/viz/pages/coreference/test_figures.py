"""Figures and tables of the lab: the map of what moves, bars, and the files they can be saved as."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.coreference.measure import CoreferenceScores
from model.analysis.metrics.head_metrics import HeadName
from viz.pages.coreference import figures, tables
from viz.pages.coreference.data import Row
from viz.pages.coreference.figures import every_head_map
from viz.text.written import CROSS, ENCODER

#: Two layers of three heads, and one of two.
UNEQUAL = [
    *(HeadName(ENCODER, layer, head) for layer in (0, 1) for head in (0, 1, 2)),
    *(HeadName(CROSS, 0, head) for head in (0, 1)),
]


def test_every_head_of_unequal_attentions_stands_in_its_cell_with_its_number_its_cross_and_its_key() -> None:
    values = np.array([0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, np.nan])
    keys = [f"k{number}" for number in range(8)]
    figure = every_head_map(
        values, UNEQUAL, title="change", bound=1.5, flips=np.arange(8) == 4, keys=keys, framed=(ENCODER, 1, 2)
    )
    heatmap, _labels, crosses, cells = figure.data
    np.testing.assert_array_equal(heatmap.z, [[0.1, -0.2, 0.3], [-0.4, 0.5, -0.6], [0.7, np.nan, np.nan]])
    assert [(x, y, text) for x, y, text in zip(crosses.x, crosses.y, crosses.text, strict=True) if text] == [
        (1, 1, "×")
    ]
    assert (heatmap.zmin, heatmap.zmax) == (-1.5, 1.5)
    assert (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext) == (
        ("encoder L1", "L2", "cross L1"),
        ("1", "2", "3"),
    )
    places = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2)]
    shown = {(x, y): row for x, y, row in zip(cells.x, cells.y, cells.customdata, strict=True) if row}
    assert {place: tuple(row[:3]) for place, row in shown.items()} == dict(zip(places, UNEQUAL, strict=True))
    assert tuple(shown[0, 1][3:]) == ("encoder L2 H1", "−0.40", " → k3")
    spots = [[*head, x - 0.5, x + 0.5, y - 0.5, y + 0.5] for head, (x, y) in zip(UNEQUAL, places, strict=True)]
    assert figure.layout.meta["heads"] == spots
    # A line between the attentions; a frame around the head that is open.
    line, frame = figure.layout.shapes
    assert (line.y0, line.y1) == (1.5, 1.5)
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)
    # The bar is below the map, not over its last row.
    assert heatmap.colorbar.y < 0


def heads_of(layers: int, heads: int) -> list[HeadName]:
    return [HeadName(ENCODER, *cell) for cell in np.ndindex(layers, heads)]


def test_each_further_row_makes_a_map_as_much_higher_as_the_one_before_and_can_be_read() -> None:
    def heights(rows: int) -> list[int]:
        """Of every map, with so many rows of three columns."""
        values, heads = np.full((rows, 3), 0.25), heads_of(rows, 3)
        names = [f"L{head.layer + 1} H{head.head + 1}" for head in heads]
        moved = figures.movement_map(
            values, np.full((rows, 3, 2, 2), 0.5), names, site=ENCODER, number="weight", averaged=False, opened=(1, 2),
            bound=0.5,
        )  # fmt: skip
        every = every_head_map(values.ravel(), heads, title="change", bound=1.5)
        groups = figures.group_map({str(row): values[row : row + 1] for row in range(rows)}, names[:3], heads[:3])
        forms = figures.form_bars(dict.fromkeys(map(str, range(rows)), 0.25), "0", [])
        return [figure.layout.height for figure in (moved, every, groups, forms)]

    for before, at, after in zip(heights(18), heights(19), heights(20), strict=True):
        assert after - at == at - before >= 16


def test_the_nearer_two_heads_are_the_lighter_and_a_click_on_a_cell_means_its_heads() -> None:
    distances = np.array([[0.0, 0.2, 0.8, 0.4], [0.3, 0.1, 0.6, 0.5]])
    first, second = heads_of(2, 1), heads_of(2, 2)
    figure = figures.distance_map(distances, first, second, matching=[(1, 3), (0, 0)], opened=(1, 2))
    heatmap, _labels, dots, ring, cells = figure.data
    np.testing.assert_array_equal(heatmap.z, -distances)
    assert (heatmap.zmin, heatmap.zmax) == (-0.8, 0)
    assert (heatmap.colorbar.tickvals[-1], heatmap.colorbar.ticktext[-1]) == (-0.8, "0.80")
    assert (list(dots.x), list(dots.y)) == ([3, 0], [1, 0])
    assert (list(ring.x), list(ring.y)) == ([2], [1])
    assert dots.marker.color != ring.marker.color
    assert (cells.x[6], cells.y[6]) == (2, 1)
    assert tuple(cells.customdata[6]) == (1, 0, 0.6, "L2 H1", "L2 H1")
    assert tuple(cells.customdata[5][3:]) == ("L2 H1", "L1 H2")
    # Heads that are nearly the same are not made to look far apart.
    figure = figures.distance_map(distances / 100, first, second, matching=[], opened=(0, 0))
    assert figure.data[0].zmin == -0.05


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode("utf-8-sig").splitlines()))


def test_tables_give_back_the_accuracies_their_intervals_and_the_margins(scores: CoreferenceScores) -> None:
    rows = [row for row in read(tables.heads(scores)) if row["site"] == "encoder.self"]
    site = scores.sites["encoder.self"]
    assert len(rows) == site.accuracy.value.numel()
    for row in rows:
        head = int(row["layer (from 1)"]) - 1, int(row["head (from 1)"]) - 1
        found = [float(row[name]) for name in ("accuracy", "accuracy_low", "accuracy_high")]
        assert found == list(site.accuracy.at(*head))
    # Of an average of heads there is none to count.
    assert {row["head (from 1)"] for row in read(tables.heads(replace(scores, measure="rollout")))} == {""}
    # The table of sentences has every head, and gives back the accuracy of one.
    assert len(read(tables.rows(scores))) == sum(
        of.accuracy.value.numel() * len(of.cases) for of in scores.sites.values()
    )
    of_head = {"site": "encoder.self", "layer (from 1)": "2", "head (from 1)": "3"}
    rows = [row for row in read(tables.rows(scores)) if of_head.items() <= row.items()]
    site = scores.sites["encoder.self"]
    right = [np.sign(float(r["weight_on_antecedent"]) - float(r["weight_on_distractor"])) / 2 + 0.5 for r in rows]
    assert len(rows) == len(site.cases)
    assert np.mean(right) == pytest.approx(float(site.accuracy.value[1, 2]), abs=1e-6)
    # Margins are written with the German that they compare.
    assert scores.contrast is not None
    rows = read(tables.contrast(scores.contrast))
    assert [float(row["margin_nats"]) for row in rows] == scores.contrast.margins.tolist()
    assert rows[0]["right"] != rows[0]["wrong"]


def test_tables_count_from_one_and_name_sentences_and_roles() -> None:
    values, parts = np.array([[0.5, 1]], np.float32), np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    lines = list(csv.reader(io.StringIO(tables.movements(values, parts).decode("utf-8-sig"))))
    assert lines[2] == ["1", "2", "4.0", "5.0", "6.0", "7.0", "1.0"]
    # An average of a layer's heads has no number of a head.
    lines = list(csv.reader(io.StringIO(tables.movements(values.T, parts.reshape(2, 1, 2, 2)).decode("utf-8-sig"))))
    assert [line[:3] for line in lines[1:]] == [["1", "", "0.0"], ["2", "", "4.0"]]
    asked = ["weil → es", "=sie"]
    row = Row(np.array([[0.25, 0.75]], np.float32), ("=it", "b"), ((0,), (1,)), {"pronoun": (0,)})
    lines = list(csv.reader(io.StringIO(tables.pair_rows(3, asked, [row, row]).decode("utf-8-sig"))))
    assert lines[1] == ["A", "weil → es", "4", "", "1", "'=it", "pronoun", "0.25"]
    assert [line[1] for line in lines[1:]] == ["weil → es"] * 2 + ["'=sie"] * 2
    assert len(lines) == 1 + 2 * 2
    row = Row(np.array([[0.25, 0.75], [0.5, 0.5]], np.float32), ("it", "b"), ((0,), (1,)), {"distractor": (1,)})
    lines = list(csv.reader(io.StringIO(tables.pair_rows(3, asked, [row, row]).decode("utf-8-sig"))))
    assert lines[4] == ["A", "weil → es", "4", "2", "2", "b", "distractor", "0.5"]
    assert [line[0] for line in lines[1:]] == ["A"] * 4 + ["B"] * 4
