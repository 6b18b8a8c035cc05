"""A tokenizer that could freeze or end the server is refused in a sentence, and an honest one is tried once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.adapters import inspect_folder, open_folder
from model.adapters.config_limits import check_pipeline, check_settings
from model.adapters.folder_check import check_folder
from model.adapters.inspect_folder import TokenizerCopy, private_copy
from model.adapters.limited_process import answer_of
from model.checked import Malformed
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters.zoo import refused

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here they are tried, in a process of their own."""
    monkeypatch.setattr(inspect_folder, "answer_of", answer_of)


def pipeline(folder: Path, change: Change) -> None:
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    change(content)
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


def replacing(pattern: dict[str, str], content: str, times: int) -> dict[str, Any]:
    step = {"type": "Replace", "pattern": pattern, "content": content}
    return {"type": "Sequence", "normalizers": [step] * times}


def template(repeated: int, ids: int) -> dict[str, Any]:
    piece = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    special = {"[CLS]": {"id": "[CLS]", "ids": [1] * ids, "tokens": ["[CLS]"] * ids}}
    single = [piece] * repeated + [{"Sequence": {"id": "A", "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda json: json.update(decoder=replacing({"String": "a"}, "x" * 100, 1)["normalizers"][0]),
            "100 characters",
        ),
        (
            lambda json: json.update(
                normalizer=replacing({"String": "a"}, "", 1), decoder=replacing({"String": "a"}, "x" * 100, 1)
            ),
            "100 characters",
        ),
        (lambda json: json.update(post_processor=template(300, 1)), "tokens to every text"),
        (lambda json: json.update(post_processor=template(1, 300)), "tokens to every text"),
    ],
)
def test_a_pipeline_that_makes_very_much_of_a_text_is_refused(bert: Path, change: Change, words: str) -> None:
    pipeline(bert, change)
    with pytest.raises(Malformed, match=words):
        check_pipeline(json.loads((bert / "tokenizer.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["extra_ids", "offset", "num_madeup_words"])
def test_settings_that_make_up_millions_of_tokens_are_refused(name: str) -> None:
    check_settings({name: 100, "model_max_length": 10**30})
    with pytest.raises(Malformed, match=f"{name} is 10,000,000; the limit is 1,000"):
        check_settings({name: 10_000_000})


def test_an_expression_that_panics_is_refused(bert: Path) -> None:
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    pipeline(bert, lambda json: json.update(pre_tokenizer=split))
    refused(bert, "tokenizer in bert cannot be used: ")


def test_a_tokenizer_that_takes_too_long_is_ended_and_not_tried_again(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of three hundred letters each start is matched in millions of ways, and all in vain.
    pipeline(bert, lambda json: json.update(normalizer=replacing({"Regex": "a+a+a+a+[bx]"}, "y", 1)))
    monkeypatch.setattr(inspect_folder, "SECONDS", 1)
    refused(bert, "takes more than 1 seconds or 3 GB")
    monkeypatch.setattr(inspect_folder, "answer_of", None)
    refused(bert, "takes more than 1 seconds")


def test_memory_is_limited(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_folder, "MEMORY", 64 << 20)
    pipeline(bert, lambda json: json.update(truncation=None, version="1.0 "))
    refused(bert, "cannot be used: ")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *((f"{name}.json", 8 << 20) for name in ("tokenizer_config", "special_tokens_map", "added_tokens")),
        ("chat_template.jinja", 8 << 20),
        *((f"{name}.json", 1 << 20) for name in ("preprocessor_config", "processor_config")),
    ],
)
def test_a_file_of_settings_is_read_up_to_its_limit_and_not_beyond(bert: Path, name: str, most: int) -> None:
    folder = check_folder(bert)
    (bert / name).write_bytes(b" " * most)
    with private_copy(folder) as copy:
        assert (copy.path / name).stat().st_size == most
    (bert / name).write_bytes(b" " * (most + 1))
    with pytest.raises(CheckpointError, match="has more than"), private_copy(folder):
        pass


def test_what_is_tried_is_what_is_opened_although_the_folder_changes_meanwhile(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = open_reader(bert).trace("The animal was tired.").source_tokens
    tried = inspect_folder.try_once

    def exchanged_after(copy: TokenizerCopy, name: str) -> None:
        tried(copy, name)
        (bert / "tokenizer.json").write_text("{}", encoding="utf-8")

    monkeypatch.setattr(open_folder, "try_once", exchanged_after)
    assert open_reader(bert).trace("The animal was tired.").source_tokens == whole
