"""Figures and tables of the lab: the map of what moves, ladders, bars, and the files they can be saved as."""

import csv
import io

import numpy as np
import pytest

from model.analysis.coreference.measure import CoreferenceScores
from model.analysis.metrics.head_metrics import HeadName
from viz.pages.coreference import figures, tables
from viz.pages.coreference.data import Row
from viz.pages.coreference.figures import BAR_HEIGHT, every_head_map, form_bars, mark_columns, movement_map
from viz.text.written import DECODER, ENCODER


def test_the_map_names_every_cell_and_frames_the_open_one() -> None:
    values = np.array([[0.5, -0.25, 0.0], [-1.5, 0.125, 2.0]], np.float32)
    parts = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100
    names = [f"L{layer} H{head}" for layer in (1, 2) for head in (1, 2, 3)]
    figure = movement_map(values, parts, names, site=ENCODER, number="weight", averaged=False, opened=(1, 2), bound=2.0)
    assert tuple(figure.data[0].text[1]) == ("−1.50", "+0.12", "+2.00")
    cells = figure.data[2]
    assert list(zip(cells.x, cells.y, strict=True)) == [(h, layer) for layer in range(2) for h in range(3)]
    assert tuple(cells.customdata[3]) == (1, 0, "L2 H1", "−1.5000", "0.1200", "0.1300", "0.1400", "0.1500")
    frame = figure.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)


@pytest.mark.parametrize(
    ("sites", "labels"),
    [([ENCODER], ("L1", "L2")), ([ENCODER, DECODER], ("encoder L1", "L2", "decoder self L1", "L2"))],
)
def test_layers_are_called_by_their_attention_where_there_are_several(
    sites: list[str], labels: tuple[str, ...]
) -> None:
    heads = [HeadName(site, layer, head) for site in sites for layer in (0, 1) for head in (0, 1)]
    figure = every_head_map(np.arange(len(heads)) / 4, heads, title="change", bound=1.0)
    assert figure.layout.yaxis.ticktext == labels


def test_bars_say_which_pronoun_is_written() -> None:
    figure = form_bars({"er": 0.25, "<b>": 0.5}, "<b>")
    assert list(figure.data[0].text) == ["0.250", "0.500 (written)"]
    assert list(figure.layout.yaxis.ticktext) == ["er", "<b>&lt;b&gt;</b>"]
    # The number of the first bar begins below the buttons, which are 22 pixels high.
    assert figure.layout.margin.t >= 22
    assert figure.layout.height - figure.layout.margin.t - figure.layout.margin.b == 2 * BAR_HEIGHT
    # Neighbouring columns share a frame.
    figure = form_bars({"er": 1.0}, "er")
    mark_columns(figure, (1, 2, 5), rows=4, colour="#000000", dash="dash")
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(0.5, 2.5), (4.5, 5.5)]


def test_a_ladder_puts_the_most_accurate_head_first_with_its_interval_and_the_baselines() -> None:
    values = np.array([0.4, 0.9, 0.6])
    figure = figures.head_ladder(
        ["L1 H1", "L1 H2", "L1 H3"], values, values - 0.1, values + 0.05, {"chance": 0.5, "nearest candidate": 0.45}
    )
    (points,) = figure.data
    assert list(points.x) == list(figure.layout.xaxis.categoryarray) == ["L1 H2", "L1 H3", "L1 H1"]
    # A list of ticks would be drawn whole, one label over the other where the page is narrow.
    assert figure.layout.xaxis.tickvals is None
    assert list(points.y) == [0.9, 0.6, 0.4]
    np.testing.assert_allclose(points.error_y.array, 0.05)
    np.testing.assert_allclose(points.error_y.arrayminus, 0.1)
    # Baselines cross the whole picture, also of a single head.
    one = np.array([0.4])
    figure = figures.head_ladder(["L1 H1"], one, one, one, {"chance": 0.5, "nearest candidate": 0.45})
    assert [(line.xref, line.x0, line.x1) for line in figure.layout.shapes] == [("paper", 0, 1)] * 2
    assert [(line.y0, line.y1) for line in figure.layout.shapes] == [(0.5, 0.5), (0.45, 0.45)]
    # Sentences in a hover are not read as HTML.
    figure = figures.margin_bars(np.array([1.0]), ["<b>it</b>"])
    assert figure.data[0].customdata[0] == "&lt;b&gt;it&lt;/b&gt;"


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
    # The table of sentences gives back the accuracy of a head.
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
    row = Row(np.array([[0.25, 0.75]], np.float32), ("=it", "b"), ((0,), (1,)), {"pronoun": (0,)})
    lines = list(csv.reader(io.StringIO(tables.pair_rows(3, [row, row]).decode("utf-8-sig"))))
    assert lines[1] == ["A", "4", "", "1", "'=it", "pronoun", "0.25"]
    assert len(lines) == 1 + 2 * 2
