"""Tables of a pair."""

import csv
import io

import numpy as np

from viz.pages.coreference import tables
from viz.pages.coreference.data import Row


def test_tables_count_from_one_and_name_sentences_and_roles() -> None:
    values, parts = np.array([[0.5, 1]], np.float32), np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    lines = list(csv.reader(io.StringIO(tables.movements(values, parts).decode("utf-8-sig"))))
    assert lines[2] == ["1", "2", "4.0", "5.0", "6.0", "7.0", "1.0"]
    row = Row(np.array([[0.25, 0.75]], np.float32), ("=it", "b"), ((0,), (1,)), {"pronoun": (0,)})
    lines = list(csv.reader(io.StringIO(tables.pair_rows(3, [row, row]).decode("utf-8-sig"))))
    assert lines[1] == ["A", "4", "", "1", "'=it", "pronoun", "0.25"]
    assert len(lines) == 1 + 2 * 2
