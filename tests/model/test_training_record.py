"""What a checkpoint's folder tells of its making: read as it stands, refused with a sentence where it is malformed."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from model.checkpoint import write_manifest
from model.errors import CheckpointError
from model.training_record import LOG, METRICS, TRAINING, read_card, read_log, read_metrics, read_training

READERS = {TRAINING: read_training, LOG: read_log, METRICS: read_metrics, "README.md": read_card}
DATA = {"name": "invented", "pairs": 12, "weight": 1.5, "what": "sentences of a test", "licence": "none"}
GOOD_TRAINING = {"data": [DATA], "settings": {"steps": 40, "bf16": True, "decay": "linear"}, "dev_limit": 20}
RESULT = {"set": "dev", "beam": 1, "bleu": 12.5, "chrf": 40, "signature": "tok:13a", "sentences": 9, "seconds": 1.5}
SCORE = {"command": "python -m model evaluate", "result": RESULT}


def written(folder: Path, name: str, content: object) -> Path:
    """The folder, with a file in it that its manifest lists."""
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    write_manifest(folder)
    return folder


def lines(*entries: Mapping[str, object]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


# ---- what is there is read ----


def test_training_data_and_settings_come_as_they_stand(tmp_path: Path) -> None:
    training = read_training(written(tmp_path, TRAINING, {**GOOD_TRAINING, "note": "from scratch"}))
    assert training is not None
    (data,) = training.data
    assert (data.name, data.pairs, data.weight, data.what, data.licence) == tuple(DATA.values())
    assert training.settings == (("steps", 40), ("bf16", True), ("decay", "linear"))
    assert (training.dev_limit, training.note) == (20, "from scratch")


def test_a_result_with_bleu_is_a_score_and_any_other_is_flattened(tmp_path: Path) -> None:
    other = {"frames": {"cases": 400, "right": 0.91}, "by layer": [{"best": 3}], "name": "x", "none": None, "ok": True}
    metrics = read_metrics(
        written(tmp_path, METRICS, {"entries": [SCORE, {"command": "python -m model pronouns", "result": other}]})
    )
    assert metrics is not None
    (score,), (measurement,) = metrics.scores, metrics.measurements
    assert (score.set, score.beam, score.bleu, score.chrf, score.sentences) == ("dev", 1, 12.5, 40, 9)
    assert measurement.command == "python -m model pronouns"
    assert measurement.rows == (
        ("frames · cases", 400),
        ("frames · right", 0.91),
        ("by layer · 1 · best", 3),
        ("name", "x"),
        ("none", "–"),
        ("ok", True),
    )


# ---- what is malformed is said ----


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "settings must be a JSON object"),
        ({**GOOD_TRAINING, "data": [5]}, r"data\[0\] must be a JSON object, got 5"),
        ({**GOOD_TRAINING, "data": [{**DATA, "pairs": -1}]}, r"data\[0\].pairs must be a whole number"),
        ({**GOOD_TRAINING, "data": [{**DATA, "weight": 0}]}, "weight must be above 0"),
        ({**GOOD_TRAINING, "data": [{**DATA, "weight": float("nan")}]}, "NaN is not a number"),
        ({**GOOD_TRAINING, "data": [{**DATA, "what": "x" * 5_000}]}, "at most 4,000 characters, got 'xxx.* …"),
        ({**GOOD_TRAINING, "settings": {"a": [1]}}, "settings.a must be a number"),
        ({**GOOD_TRAINING, "note": "\ud800"}, "note must be valid Unicode text"),
    ],
)
def test_malformed_training_data_are_said(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(CheckpointError, match=f"{TRAINING} cannot be shown: .*{message}"):
        read_training(written(tmp_path, TRAINING, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no loss"),
        ("\n{}\n", "line 2: step must be a whole number"),
        ('{"step": 1, "loss": NaN}', "line 1: NaN is not a number"),
        ('{"step": 1, "loss": %s}' % ("9" * 400), "line 1: loss must be between"),
        (lines({"step": 1, "bleu_" + "x" * 56: "3"}), f"line 1: bleu_{'x' * 55} must be a number"),
        (lines({"step": 1, **{f"bleu_{i}": 1 for i in range(17)}}), "at most .* 16 dev sets"),
        (lines(*({"step": i, "loss": 1} for i in range(20_001))), "at most 20,000 steps"),
        (lines({"step": 1, "tokens_per_second": 5}), "no loss"),
    ],
)
def test_a_malformed_log_is_said(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=f"{LOG} cannot be shown: .*({message})"):
        read_log(written(tmp_path, LOG, content))


def nested(depth: int) -> dict[str, object]:
    return {"a": nested(depth - 1)} if depth else {"a": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "must be a JSON object"),
        ("{}", "entries must be a list"),
        ({"entries": [{"command": "x"}]}, r"entries\[0\].result must be a JSON object"),
        ({"entries": [{"command": "x", "result": {**RESULT, "bleu": "12"}}]}, "bleu must be a number"),
        ({"entries": [{"command": "x", "result": {**RESULT, "bleu": 100.5}}]}, "bleu must be from 0 to 100"),
        ({"entries": [{"command": "x", "result": {"a": "y" * 5_000}}]}, "result.a must be a text of at most"),
        ({"entries": [{"command": "x", "result": nested(8)}]}, "more than 8 levels deep"),
        ({"entries": [{"command": "x", "result": {str(i): i for i in range(401)}}]}, "at most 400 values"),
    ],
)
def test_malformed_metrics_are_said(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(CheckpointError, match=f"{METRICS} cannot be shown: .*{message}"):
        read_metrics(written(tmp_path, METRICS, content))


# ---- only what the manifest lists, and no more than a page can take ----


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_the_manifest_does_not_list_is_refused(tmp_path: Path, name: str) -> None:
    write_manifest(tmp_path)
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(CheckpointError, match=f"{name} cannot be shown: it is not the file that manifest.json lists"):
        READERS[name](tmp_path)
