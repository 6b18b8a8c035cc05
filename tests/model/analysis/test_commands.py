"""What `python -m model align` and `coreference` print, and one line for bad input."""

import json
from pathlib import Path

import pytest

from model.__main__ import main
from tests.benchmarks.metrics import condensed

ALIGNMENT = {
    "en": ["the", "dog", "sleeps", "."],
    "de": ["der", "hund", "schläft", "."],
    "sure": [[0, 0], [1, 1], [2, 2]],
}
WINOBIAS = (
    "1 [The cook] paid the clerk because [she] ate.\n2 The cook paid [the clerk] because [he] worked.\n3 No one.\n"
)


@pytest.fixture
def checkpoint(tiny_checkpoints: Path) -> list[str]:
    return ["--checkpoint", str(tiny_checkpoints / "en-de"), "--device", "cpu"]


@pytest.fixture
def gold(tmp_path: Path) -> str:
    path = tmp_path / "gold.set.jsonl"
    path.write_text(f"{json.dumps(ALIGNMENT)}\n" * 2, encoding="utf-8")
    return str(path)


@pytest.fixture
def pronouns(tmp_path: Path) -> str:
    path = tmp_path / "pronouns.txt"
    path.write_text(WINOBIAS, encoding="utf-8")
    return str(path)


def test_align_prints_one_json_object(checkpoint: list[str], gold: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", "--data", gold, "--json", *checkpoint]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["set"], scores["rows"], scores["skipped"]) == ("gold.set", 2, 0)
    assert scores["links"] == {"sure": 6, "predicted": 8}
    assert scores["baselines"] == {"diagonal": round(1 - 12 / 14, 4)}
    for way in ("word_in", "word_out"):
        assert {layer: list(heads) for layer, heads in scores[way]["heads"].items()} == {key: [*"0123"] for key in "01"}
        best = scores[way]["best_head"]
        assert best["aer"] == scores[way]["heads"][str(best["layer"])][str(best["head"])]
        assert best["aer"] == min(aer for heads in scores[way]["heads"].values() for aer in heads.values())
        # Both rows are the same, so that the head chosen on one is the best one on the other.
        assert scores[way]["cross_selected"]["aer"] == best["aer"]
        assert set(scores[way]["head_averaged"]) == {"0", "1"}


def test_coreference_prints_one_json_object(
    checkpoint: list[str], pronouns: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coreference", "--data", pronouns, "--json", *checkpoint]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["set"], scores["rows"], scores["skipped"]) == ("pronouns", 2, 1)
    assert sum(scores["skipped_because"].values()) == 1
    assert scores["baselines"] == {**scores["baselines"], "nearest": 0.5, "first": 0.5, "chance": 0.5}
    assert scores["contrast_accuracy"] is None
    of_encoder = [head for head in scores["heads"] if head["site"] == "encoder.self"]
    assert [(head["layer"], head["head"]) for head in of_encoder] == [(i, j) for i in range(2) for j in range(4)]
    assert all({"accuracy", "low", "high", "margin"} <= set(head) for head in scores["heads"])
    assert all(0 <= head["low"] <= head["accuracy"] <= head["high"] <= 1 for head in scores["heads"])
    assert set(scores["sites"]) == {head["site"] for head in scores["heads"]}
    # What metrics.json keeps of it has one number for each encoder head.
    kept = condensed(scores)
    assert {layer: list(heads) for layer, heads in kept["heads"].items()} == {key: [*"0123"] for key in "01"}
    assert kept["heads"]["1"]["2"] == of_encoder[6]["accuracy"]
    assert condensed({"heads": {"0": {"0": 0.5}}}) == {"heads": {"0": {"0": 0.5}}}
