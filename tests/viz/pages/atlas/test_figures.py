"""The scatter of heads by their distances, tables of an atlas, and words of its metrics."""

import csv
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit as st

from model.analysis.atlas.head_distance import head_map, share_held
from model.analysis.atlas.measure import Atlas
from viz import theme
from viz.access import models
from viz.pages.atlas import data, head_panel, metric_texts
from viz.pages.atlas.figures import _PLACES, _POINT, _Box, _name_box, head_scatter, name_places, nearest, neighbours
from viz.pages.atlas.metric_texts import HeadMap, View
from viz.selection.choices import CORPUS_METRICS, READ_OFF
from viz.selection.selection import Selection
from viz.text.written import CROSS, DECODER, ENCODER, SITES
from viz.ui import long_work

VALUES = np.array([[0.5, np.nan], [0.75, 0.25]], np.float32)
DISTANCES = np.array([[0, 1, 5, 5], [1, 0, 2, 2], [5, 2, 0, 3], [5, 2, 3, 0]], np.float32)


def test_the_nearest_heads_come_first_and_of_equal_ones_the_first() -> None:
    np.testing.assert_array_equal(nearest(DISTANCES, 2), [[1, 2], [0, 2], [1, 3], [1, 2]])
    assert neighbours(DISTANCES, 2)[2] == "L1 H2 (2.00), L2 H2 (3.00), L1 H1 (5.00)"
    assert neighbours(DISTANCES[:2, :2], 2) == ["L1 H2 (1.00)", "L1 H1 (1.00)"]
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


@pytest.mark.parametrize("selected", [(0, 1), (1, 1)])
def test_a_head_that_a_layer_lacks_has_no_point_and_all_others_are_in_the_picture(selected: tuple[int, int]) -> None:
    positions = np.arange(20, 32, dtype=float).reshape(2, 3, 2)
    positions[0, 2] = np.nan
    values, distances = np.full((2, 3), 0.5), np.ones((6, 6)) - np.eye(6)
    distances[2] = distances[:, 2] = np.nan
    figure = head_scatter(
        positions, values, distances, site=CROSS, name="first", shown=list("abcdef"), ends=(0.5, 0.5),
        is_centred=False, selected=selected,
    )  # fmt: skip
    ring, points = figure.data
    assert [*ring.x, *ring.y] == positions[selected].tolist()
    heads = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    assert [(*head, text) for *head, text, _, _ in points.customdata] == [
        (*head, text) for head, text in zip(heads, "abdef", strict=True)
    ]
    spots = [(CROSS, *head, *np.repeat(positions[head], 2)) for head in heads]
    assert [tuple(spot) for spot in figure.layout.meta["heads"]] == spots
    # A scale has two ends though all numbers are the same.
    assert points.marker.cmin == 0.5 < points.marker.cmax < 0.51
    for axis, numbers in ((figure.layout.xaxis, points.x), (figure.layout.yaxis, points.y)):
        low, high = axis.range
        assert min(numbers) - low == pytest.approx(high - max(numbers))
        assert 0.05 < (high - max(numbers)) / np.ptp(numbers) < 0.25


def test_a_name_lies_beside_its_point_where_plotly_writes_it() -> None:
    for place, side in _PLACES.items():
        box, (above, beside) = _name_box((30.0, 50.0), "L1 H1", *side), place.split()
        assert (box.right - box.left, box.high - box.low) == (5 * 7, 14)
        found = {"top": box.low == 58, "middle": box.low + box.high == 100, "bottom": box.high == 42}
        assert [name for name, is_there in found.items() if is_there] == [above]
        found = {"left": box.right == 22, "center": box.left + box.right == 60, "right": box.left == 38}
        assert [name for name, is_there in found.items() if is_there] == [beside]


def test_boxes_meet_where_they_share_a_part_and_not_where_they_touch() -> None:
    box = _Box(10, 10, 20, 20)
    for across, up in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        for apart, do_meet in ((10, False), (9, True), (11, False)):
            x, y = across * apart, up * apart
            assert box.meets(_Box(10 + x, 10 + y, 20 + x, 20 + y)) == do_meet, (x, y)


def test_names_lie_over_no_point_and_where_no_room_is_left_the_chosen_head_keeps_its_name() -> None:
    apart = name_places(np.array([[0.0, 0.0], [1.0, 1.0]]), ["L1 H1", "L1 H2"])
    assert apart == ["top center", "top center"]
    # The name of the lower one would lie over the upper one.
    assert name_places(np.array([[0.0, 0.0], [0.0, 0.05], [1.0, 1.0]]), ["L1 H1"] * 3)[0] != "top center"
    points = np.random.default_rng(0).normal(size=(60, 2)) * [[1, 0.1]]
    crowd = name_places(points, ["L1 H1"] * 60, first=59)
    assert None in crowd
    scaled = points * 250 / np.ptp(points[:, 0])
    boxes = [_name_box(at, "L1 H1", *_PLACES[place]) for at, place in zip(scaled, crowd, strict=True) if place]
    assert not any(box.meets(other) for at, box in enumerate(boxes) for other in boxes[:at])
    for box, own in zip(boxes, np.flatnonzero(np.array(crowd)), strict=True):
        others = [(x, y) for at, (x, y) in enumerate(scaled) if at != own]
        is_over = any(box.meets(_Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT)) for x, y in others)
        assert is_over == (own == 59 and crowd[59] == "top center")
    # Points on a slope are as near to one another as they are drawn, whatever their own two numbers are.
    assert name_places(np.array([[0, 0], [1, 1], [100, 100]]), ["L1 H1"] * 3)[0] != "top center"
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
    for key, site, reason in (
        ("aer_word_in", CROSS, "No manual word alignments"), ("aer_word_in", ENCODER, "for cross-attention only"),
        ("antecedent", DECODER, "never sees the nouns"), ("antecedent", ENCODER, "only on weights"),
        ("induction", ENCODER, "sees only earlier tokens"), ("previous", CROSS, "one sentence to another"),
    ):  # fmt: skip
        assert reason in metric_texts.why_none(key, site), (key, site)
    assert "sees only earlier tokens" not in metric_texts.why_none("induction", DECODER)


def line_of(words: str, marked: tuple[int, int], start: int = 0) -> str:
    labels = words.split()
    return head_panel._tinted_line(["x"] * start + labels + ["y"] * 9, range(start, start + len(labels)), marked)


def test_of_a_long_sentence_the_words_around_those_that_are_marked_are_shown() -> None:
    words = [f"w{number}" for number in range(40)]
    for marked, first, last in (
        ((20, 22), 14, 28),
        ((2, 1), 0, 8),
        ((39, 36), 30, 39),
        ((6, 33), 0, 39),
        ((7, 7), 1, 13),
    ):
        for start in (0, 50):
            told = line_of(" ".join(words), (marked[0] + start, marked[1] + start), start)
            for at, colour in ((marked[1], "orange"), (marked[0], "blue")):
                assert f":{colour}-background[w{at}]" in told or at == marked[0] == marked[1]
            shown = re.sub(r":\w+-background\[(\w+)\]", r"\1", told).split()
            ends = ["…"] * (first > 0), ["…"] * (last < 39)
            assert shown == [*ends[0], *words[first : last + 1], *ends[1]]
    # What looks from the other text leaves this one at its beginning.
    assert line_of(" ".join(words), (0, 1), 50).split() == [*words[:7], "…"]
    # Ninety characters fit, with a space after each word.
    assert line_of("four " * 18, (0, 0)).count("four") == 18
    assert line_of("four " * 17 + "fours", (0, 0)).split() == [":blue-background[four]", *["four"] * 6, "…"]


def test_a_sentence_of_ninety_characters_stays_whole() -> None:
    assert head_panel._plain("x" * 90) == "x" * 90
    assert head_panel._plain("x" * 91) == "x" * 90 + " …"


def test_heads_that_a_layer_lacks_are_not_in_the_table() -> None:
    atlas: Any = SimpleNamespace(heads={ENCODER: (2, 1)})
    there = [head_panel._is_there(atlas, site, *head) for site in (ENCODER, CROSS) for head in np.ndindex(3, 2)]
    assert there == [True, True, True, False, False, False] + [False] * 6


def test_sentences_are_read_at_once_only_by_a_model_that_is_not_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    atlas: Any = SimpleNamespace(texts=("a", "b", "c"))
    monkeypatch.setattr(st, "session_state", {"selection": Selection()})
    monkeypatch.setattr(data, "looks", lambda reader, texts, *head: texts)
    monkeypatch.setattr(models, "reader", lambda choice: None)
    monkeypatch.setattr(long_work, "outcome", lambda task, label, key, start: (task, start))
    for size, is_read in ((500_000_000, True), (500_000_001, False)):
        monkeypatch.setattr(models, "weights_bytes", lambda choice, size=size: size)
        found: Any = head_panel._looks(atlas, [2, 0], ENCODER, 0, 0)
        assert found == (("c", "a"), is_read)


def ranked(key: str, values: list[list[float]]) -> View:
    head_map = HeadMap(key, "First", "", np.array(values, np.float32), 2)
    return View(ENCODER, 0, head_map.values.shape, key, "norms", (HeadMap("other", "", "", VALUES, 1), head_map))


def test_the_best_heads_are_the_highest_or_of_an_error_the_lowest_and_ranks_say_so() -> None:
    numbers = [[0.5, np.nan, 0.75], [0.5, 0.25, 1.0]]
    view, errors = ranked("first", numbers), ranked("aer_word_in", numbers)
    assert view.best(3) == [(1, 2), (0, 2), (0, 0)]
    assert errors.best(9) == [(1, 1), (0, 0), (1, 0), (0, 2), (1, 2)]
    assert (view.name, errors.name) == ("norm_first", "norm_aer_word_in")
    for of, expected in (
        (view, "rank 3 of 5 heads (1 is the highest)"),
        (errors, "rank 2 of 5 heads (1 is the lowest)"),
    ):
        assert [expected in head_panel._numbers(of, *head) for head in ((0, 0), (1, 0), (1, 1))] == [True, True, False]
        assert head_panel._numbers(of, 0, 1).endswith("not available")


def test_a_centred_scale_reaches_as_far_below_its_centre_as_above() -> None:
    below = HeadMap("a", "A", "", np.array([[0.1, np.nan, 0.6]]), 2, centre=0.5)
    assert below.ends == pytest.approx((0.1, 0.9))
    assert HeadMap("a", "A", "", np.full((1, 2), np.nan), 2, centre=0.5).ends == (0.5, 0.5)
