"""Tables of heads, sentences and margins."""

import csv

import numpy as np
import pytest

from model.analysis.coreference.measure import CoreferenceScores
from viz.pages.coreference import tables


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode("utf-8-sig").splitlines()))


def test_the_table_of_heads_holds_every_head_with_the_ends_of_its_interval(scores: CoreferenceScores) -> None:
    rows = [row for row in read(tables.heads(scores)) if row["site"] == "encoder.self"]
    site = scores.sites["encoder.self"]
    assert len(rows) == site.accuracy.value.numel()
    for row in rows:
        head = int(row["layer (from 1)"]) - 1, int(row["head (from 1)"]) - 1
        found = [float(row[name]) for name in ("accuracy", "accuracy_low", "accuracy_high")]
        assert found == list(site.accuracy.at(*head))


def test_the_table_of_sentences_gives_back_the_accuracy_of_a_head(scores: CoreferenceScores) -> None:
    of_head = {"site": "encoder.self", "layer (from 1)": "2", "head (from 1)": "3"}
    rows = [row for row in read(tables.rows(scores)) if of_head.items() <= row.items()]
    site = scores.sites["encoder.self"]
    right = [np.sign(float(r["weight_on_antecedent"]) - float(r["weight_on_distractor"])) / 2 + 0.5 for r in rows]
    assert len(rows) == len(site.cases)
    assert np.mean(right) == pytest.approx(float(site.accuracy.value[1, 2]), abs=1e-6)


def test_margins_are_written_with_the_german_they_compare(scores: CoreferenceScores) -> None:
    assert scores.contrast is not None
    rows = read(tables.contrast(scores.contrast))
    assert [float(row["margin_nats"]) for row in rows] == scores.contrast.margins.tolist()
    assert rows[0]["right"] != rows[0]["wrong"]
