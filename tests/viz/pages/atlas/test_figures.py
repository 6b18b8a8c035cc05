"""Names in the scatter of heads, and tables of an atlas."""

import csv

import numpy as np

from model.analysis.atlas.measure import Atlas
from viz.pages.atlas import data, export
from viz.pages.atlas.figures import name_places


def test_names_lie_over_no_point_and_no_other_name() -> None:
    """Plotly writes a name of 7 pixels a letter and 14 a line beside its point, which has 7 on each side."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2)) * [[1, 0.1]]
    names = [f"L{at % 6 + 1} H{at % 8 + 1}" for at in range(60)]
    places = name_places(points, names, first=59)
    assert None in places
    assert places[59] is not None
    pixels = points * 330 / np.ptp(points, axis=0)
    sides = {"left": -1, "center": 0, "right": 1, "top": 1, "middle": 0, "bottom": -1}
    boxes = []
    for (x, y), place in zip(pixels, places, strict=True):
        if place:
            up, across = (sides[part] for part in place.split())
            middle, low = x + across * (35 / 2 + 7), y + up * 14 - 7
            boxes.append((middle - 35 / 2, low, middle + 35 / 2, low + 14))
    overlaps = [
        (one, other)
        for at, one in enumerate(boxes)
        for other in boxes[:at]
        if one[0] < other[2] - 1e-6 and other[0] < one[2] - 1e-6
        and one[1] < other[3] - 1e-6 and other[1] < one[3] - 1e-6
    ]  # fmt: skip
    assert not overlaps
    # As many names have room however large the numbers are.
    assert places == name_places(100 * points, names, first=59)


def test_tables_hold_the_numbers_and_leave_out_what_is_none(atlas: Atlas) -> None:
    lines = list(csv.DictReader(data.table(atlas).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * 8
    line = lines[8 + 5]  # decoder.self L2 H2
    named = line["site"], line["layer (from 1)"], line["head (from 1)"], line["next"]
    assert named == ("decoder.self", "2", "2", "")
    assert np.float32(line["norm_entropy"]) == atlas.metrics["norm_entropy"][1, 1, 1]
    apart = data.distances(atlas, "encoder.self")
    rows = list(csv.reader(export.distances(apart, 4).decode("utf-8-sig").splitlines()))
    assert (rows[0][7], rows[2][0]) == ("L2 H3", "L1 H2")
    assert np.float32(rows[2][7]) == apart[1, 6]
