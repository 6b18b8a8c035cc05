"""The scatter of heads by their distances, tables of an atlas, and words of its metrics."""

import csv
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from model.analysis.atlas.head_distance import head_map, share_held
from model.analysis.atlas.measure import Atlas
from viz import theme
from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas.figures import head_scatter, name_places, nearest, neighbours
from viz.pages.atlas.metric_texts import HeadMap
from viz.selection.choices import CORPUS_METRICS, READ_OFF
from viz.text.written import ENCODER, SITES

VALUES = np.array([[0.5, np.nan], [0.75, 0.25]], np.float32)
DISTANCES = np.array([[0, 1, 5, 5], [1, 0, 2, 2], [5, 2, 0, 3], [5, 2, 3, 0]], np.float32)


def test_the_nearest_heads_come_first_and_of_equal_ones_the_first() -> None:
    np.testing.assert_array_equal(nearest(DISTANCES, 2), [[1, 2], [0, 2], [1, 3], [1, 2]])
    assert neighbours(DISTANCES, 2)[2] == "L1 H2 (2.00), L2 H2 (3.00), L1 H1 (5.00)"
    assert neighbours(np.zeros((1, 1), np.float32), 1) == ["none"]


def scatter(ends: tuple[float, float], *, is_centred: bool) -> go.Figure:
    positions, shown = np.arange(8, dtype=float).reshape(2, 2, 2), ["a", "b", "c", "d"]
    scale: Any = {"ends": ends, "is_centred": is_centred}
    return head_scatter(positions, VALUES, DISTANCES, site=ENCODER, name="first", shown=shown, selected=(1, 0), **scale)


def test_colours_of_a_metric_that_has_a_chance_level_begin_there_as_those_of_its_map() -> None:
    head_map = HeadMap("first", "First", "", VALUES, 2, centre=0.5)
    points = scatter(head_map.ends, is_centred=True).data[1]
    assert (points.marker.cmin, points.marker.cmax) == (0.25, 0.75)
    assert points.marker.colorscale[0][1] == theme.DIVERGING[0].lower()
    assert list(points.marker.colorbar.ticktext) == ["0.25", "0.38", "0.50", "0.62", "0.75"]


def test_points_carry_their_head_number_and_neighbours_and_the_ring_lies_on_the_chosen_one() -> None:
    figure = scatter((0.0, 0.75), is_centred=False)
    ring, points = figure.data
    assert (ring.x[0], ring.y[0]) == (4, 5)
    assert list(points.text) == ["L1 H1", "L1 H2", "L2 H1", "L2 H2"]
    assert list(points.customdata[2][:3]) == [1, 0, "c"]
    assert np.isnan(points.marker.color[1])
    assert points.marker.cmax == 0.75
    bar = points.marker.colorbar
    assert dict(zip(bar.tickvals, bar.ticktext, strict=True)) == {
        0.0: "0.00", 0.1875: "0.19", 0.375: "0.38", 0.5625: "0.56", 0.75: "0.75"
    }  # fmt: skip
    assert figure.layout.yaxis.scaleanchor == "x"


def test_names_lie_over_no_point_and_where_no_room_is_left_the_chosen_head_keeps_its_name() -> None:
    apart = name_places(np.array([[0.0, 0.0], [1.0, 1.0]]), ["L1 H1", "L1 H2"])
    assert apart == ["top center", "top center"]
    # The name of the lower one would lie over the upper one.
    assert name_places(np.array([[0.0, 0.0], [0.0, 0.05], [1.0, 1.0]]), ["L1 H1"] * 3)[0] != "top center"
    points = np.random.default_rng(0).normal(size=(60, 2)) * [[1, 0.1]]
    crowd = name_places(points, ["L1 H1"] * 60, first=59)
    assert None in crowd
    # A chart is as large whatever the distances are.
    assert (
        crowd
        == name_places(100 * points, ["L1 H1"] * 60, first=59)
        == name_places(points / 100, ["L1 H1"] * 60, first=59)
    )
    assert crowd[59] is not None


def test_a_map_of_distances_in_a_plane_loses_nothing_and_one_of_a_simplex_does() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(6, 2))
    squares = ((flat[:, None] - flat[None]) ** 2).sum(-1)
    assert share_held(squares, head_map(squares)) == pytest.approx(1.0)
    simplex = 1.0 - np.eye(6)
    # A regular simplex of 6 corners has 5 equal directions; the plane holds 2 of them.
    assert share_held(simplex, head_map(simplex)) == pytest.approx(2 / 5)
    assert np.isnan(share_held(np.zeros((3, 3)), np.zeros((3, 2))))


def test_tables_hold_the_numbers_and_leave_out_what_is_none(atlas: Atlas) -> None:
    lines = list(csv.DictReader(head_panel.all_metrics(atlas, SITES).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * 8
    line = lines[8 + 5]  # decoder.self L2 H2
    named = line["site"], line["layer (from 1)"], line["head (from 1)"], line["next"]
    assert named == ("decoder.self", "2", "2", "")
    assert np.float32(line["norm_entropy"]) == atlas.metrics["norm_entropy"][1, 1, 1]
    rows = list(csv.reader(head_panel.one_metric(atlas.metrics["first"][0]).decode("utf-8-sig").splitlines()))
    assert rows[0] == ["layer (from 1)", "head_1", "head_2", "head_3", "head_4"]
    assert np.float32(rows[2][3]) == atlas.metrics["first"][0, 1, 2]
    apart = data.distances(atlas, "encoder.self")
    rows = list(csv.reader(head_panel.distances(apart, 4).decode("utf-8-sig").splitlines()))
    assert (rows[0][7], rows[2][0]) == ("L2 H3", "L1 H2")
    assert np.float32(rows[2][7]) == apart[1, 6]


def test_every_figure_and_every_site_has_its_words() -> None:
    for key in CORPUS_METRICS:
        for site in SITES:
            for read_off in READ_OFF:
                assert metric_texts.meaning(key, site, read_off).endswith(".")
            assert metric_texts.why_none(key, site)
    assert "share of norms" in metric_texts.meaning("previous", "encoder.self", "norms")
