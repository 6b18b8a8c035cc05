"""A trace's key names the run: the same for the same run, another for whatever could change a number in it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model import PointAt, SwitchOff, Translator
from model.trace.file import load_trace, save_trace
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


def test_the_same_run_has_the_same_key(translator: Translator) -> None:
    assert translator.trace(TEXT).key == translator.trace(TEXT).key


@pytest.mark.parametrize(
    "given",
    [
        {"target": "Tom."},
        {"edits": [SwitchOff("decoder.cross", 0, 1)]},
        {"edits": [SwitchOff("decoder.cross", 0, 1, since=1)]},
        {"edits": [PointAt("encoder.self", 0, 1, 0)]},
        {"extras": {"hook_head_output"}},
    ],
)
def test_another_target_edit_or_extra_is_another_key(translator: Translator, given: dict[str, object]) -> None:
    text = translator.trace(TEXT)
    assert translator.trace(TEXT, **given).key != text.key  # type: ignore[arg-type]


def test_another_text_and_another_model_are_other_keys(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    other = Translator(translator.model, translator.tokenizer, digest="other")
    assert len({trace.key, translator.trace(TEXT + " ").key, other.trace(TEXT).key}) == 3


def test_functions_that_nobody_can_name_make_every_run_its_own(translator: Translator) -> None:
    edits = {"encoder.layers.0.hook_output": torch.zeros_like}
    assert translator.trace(TEXT, edits=edits).key != translator.trace(TEXT, edits=edits).key


def test_fewer_steps_are_another_key(translator: Translator) -> None:
    trace = translator.trace(TEXT)
    assert trace.only_written(trace.steps) is trace
    written = trace.only_written(trace.steps[-2:])
    assert written.key != trace.key
    assert written.predicted_tokens == trace.predicted_tokens[-2:]
    assert written.rows_before == len(trace.target_tokens) - 2


def test_a_file_keeps_the_key(translator: Translator, tmp_path: Path) -> None:
    trace = translator.trace(TEXT)
    save_trace(trace, tmp_path / "trace.npz")
    assert load_trace(tmp_path / "trace.npz").key == trace.key
    assert replace(trace, text="another").key != trace.key
