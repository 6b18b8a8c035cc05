"""Tables of an atlas."""

import csv

import numpy as np

from model.analysis.atlas.measure import Atlas
from viz.pages.atlas import data, table
from viz.text.sites import SITES


def test_tables_hold_the_numbers_and_leave_out_what_is_none(atlas: Atlas) -> None:
    lines = list(csv.DictReader(table.all_metrics(atlas, SITES).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * 8
    line = lines[8 + 5]  # decoder.self L2 H2
    named = line["site"], line["layer (from 1)"], line["head (from 1)"], line["next"]
    assert named == ("decoder.self", "2", "2", "")
    assert np.float32(line["norm_entropy"]) == atlas.metrics["norm_entropy"][1, 1, 1]
    rows = list(csv.reader(table.one_metric(atlas.metrics["first"][0]).decode("utf-8-sig").splitlines()))
    assert rows[0] == ["layer (from 1)", "head_1", "head_2", "head_3", "head_4"]
    assert np.float32(rows[2][3]) == atlas.metrics["first"][0, 1, 2]
    apart = data.distances(atlas, "encoder.self")
    rows = list(csv.reader(table.distances(apart, 4).decode("utf-8-sig").splitlines()))
    assert (rows[0][7], rows[2][0]) == ("L2 H3", "L1 H2")
    assert np.float32(rows[2][7]) == apart[1, 6]
