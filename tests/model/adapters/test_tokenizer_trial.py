"""A tokenizer that could freeze or end the server is refused in a sentence, and an honest one is tried once."""

import json
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
import transformers

from model.adapters import inspect_folder, library, open_folder
from model.adapters.config_limits import check_pipeline, check_settings
from model.adapters.folder_check import check_folder
from model.adapters.inspect_folder import TokenizerCopy, private_copy
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.limited_process import answer_of, first_words
from model.adapters.tokenizer_trial_process import texts, wrong_with
from model.checked import Malformed
from model.errors import CheckpointError, InputTextError
from model.opening import open_reader
from tests.model.adapters.zoo import refused

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here they are, and none has been before."""
    monkeypatch.setattr(inspect_folder, "_tried", {})
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
            lambda json: json.update(normalizer=replacing({"Regex": "."}, "x" * 1_000, 4)),
            "1,000,000,000,000 characters",
        ),
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
        (lambda json: json.update(normalizer={"type": "Prepend", "prepend": "x" * 300}), "adds 313 tokens"),
        (lambda json: json.update(post_processor=template(300, 1)), "tokens to every text"),
        (lambda json: json.update(post_processor=template(1, 300)), "tokens to every text"),
        (lambda json: json.update(padding={"strategy": {"Fixed": 10**7}}), "pads every text"),
    ],
    ids=[
        "replacements",
        "a decoder's",
        "beside one that deletes",
        "prepended",
        "long template",
        "long token",
        "padding",
    ],
)
def test_a_pipeline_that_makes_very_much_of_a_text_is_refused(bert: Path, change: Change, words: str) -> None:
    pipeline(bert, change)
    with pytest.raises(Malformed, match=words):
        check_pipeline(json.loads((bert / "tokenizer.json").read_text(encoding="utf-8")))


def test_what_is_put_around_a_text_and_around_two_is_counted_token_by_token(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of one text as of two: three special tokens of two ids, and the text; and what is prepended, letter by letter.
    asked = {"normalizer": {"type": "Prepend", "prepend": "xxxxx"}, "post_processor": template(3, 2)}
    monkeypatch.setattr("model.adapters.config_limits.MAX_AROUND", 2 * (3 + 1) + 2 * 3 * 2 + 5)
    check_pipeline(asked)
    monkeypatch.setattr("model.adapters.config_limits.MAX_AROUND", 24)
    with pytest.raises(Malformed, match="adds 25 tokens"):
        check_pipeline(asked)


@pytest.mark.parametrize("name", ["extra_ids", "offset", "num_madeup_words"])
def test_settings_that_make_up_millions_of_tokens_are_refused(name: str) -> None:
    check_settings({name: 100, "model_max_length": 10**30})
    with pytest.raises(Malformed, match=f"{name} is 10,000,000; at most 1,000"):
        check_settings({name: 10_000_000})


def test_replacements_that_would_end_the_process_are_refused_when_the_folder_is_opened(bert: Path) -> None:
    pipeline(bert, lambda json: json.update(normalizer=replacing({"Regex": "."}, "x" * 1_000, 4)))
    refused(
        bert,
        "tokenizer in bert cannot be used: its replacements turn one character into up to 1,000,000,000,000 characters",
    )


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


@pytest.mark.parametrize(("name", "size"), [("vocab.txt", 90 << 20), ("tokenizer.json", 100 << 20)])
def test_a_vocabulary_of_90_megabytes_is_refused_unread(
    bert: Path, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (bert / name).open("wb") as file:
        file.truncate(size)
    monkeypatch.setattr(inspect_folder, "answer_of", None)
    refused(bert, f"{name} has more than")


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


def test_what_a_vocabulary_may_have_depends_on_the_program_that_writes_it(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    megabytes = {"tokenizer.json": 64, "tekken.json": 32, "dict.txt": 8}
    for names in ("vocab.txt vocab.json target_vocab.json merges.txt bpe.codes", "source.spm target.spm spm.model"):
        megabytes |= dict.fromkeys(names.split(), 16)
    megabytes |= dict.fromkeys(
        ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model"], 16
    )
    folder, most = check_folder(bert), dict[str, int]()
    for name in megabytes:
        (bert / name).touch()

    def read(home: Path, name: str, largest: int) -> bytes:
        most[name] = largest
        return b""

    monkeypatch.setattr(inspect_folder, "read_file", read)
    with private_copy(folder):
        assert {name: most[name] / 2**20 for name in megabytes} == megabytes


@pytest.mark.parametrize("shown", ["C:\\Temp\\t 1", "C:\\\\Temp\\\\t 1", "C:/Temp/t 1"])
def test_the_folder_of_the_trial_is_named_in_no_message(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_folder, "answer_of", lambda *_, **__: {"wrong": f"Can't load '{shown}'"})
    assert inspect_folder._outcome(PureWindowsPath("C:\\Temp\\t 1")) == "Can't load 'its folder'"


class Stub(transformers.PreTrainedTokenizerBase):
    """Of so many tokens, and makes so many of every text."""

    size = in_vocabulary = 2
    beyond = 0
    separate_vocabs = False

    def __init__(self) -> None:
        pass

    def __len__(self) -> int:
        return self.size

    def get_vocab(self) -> Any:
        return range(self.in_vocabulary)

    def __call__(self, text: str, **_: object) -> Any:
        return {"input_ids": [0] * (8 * len(text.encode()) + 512 + self.beyond)}

    def convert_ids_to_tokens(self, *_: object) -> Any:
        return []

    def decode(self, *_: object, **__: object) -> str:
        return ""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": 2_000_000, "in_vocabulary": 2_000_000}, ""),
        ({"size": 2_000_001}, "2,000,001 tokens; at most 2,000,000"),
        ({"in_vocabulary": 2_000_001}, "at most 2,000,000"),
        ({"beyond": 1}, "it makes 521 tokens of 1 characters"),
    ],
)
def test_eight_tokens_for_a_byte_and_two_million_in_all_are_believed(settings: dict[str, int], words: str) -> None:
    stub = Stub()
    vars(stub).update(settings)
    assert words in wrong_with(stub)
    assert bool(words) == bool(wrong_with(stub))


def test_every_character_that_can_be_seen_is_tried_and_each_repetition_is_long() -> None:
    tried = list(texts())
    shown = {chr(code) for code in range(0x20, 0xFFFF) if chr(code).isprintable()}
    assert shown <= set("".join(tried))
    # In pieces, so that none is cut into one word.
    assert max(map(len, tried[2].split())) == 12
    assert sum(any(text.startswith(sign * 300) for text in tried) for sign in "a1 .\n") == 5


def test_a_class_that_is_no_tokenizer_of_one_text_is_refused(bert: Path) -> None:
    (bert / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RagTokenizer"}), encoding="utf-8")
    refused(bert, "tokenizer in bert cannot be used")


def test_other_folders_can_be_opened_while_a_tokenizer_is_tried(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = inspect_folder.try_once

    def watched(copy: TokenizerCopy, name: str) -> None:
        assert not library._LOADING.locked()
        tried(copy, name)

    monkeypatch.setattr(open_folder, "try_once", watched)
    open_reader(bert)


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


def test_nothing_of_the_copy_stays_behind(bert: Path) -> None:
    with private_copy(check_folder(bert)) as copy:
        assert (copy.path / "tokenizer.json").read_bytes() == (bert / "tokenizer.json").read_bytes()
    assert not copy.path.exists()


class PanicException(BaseException):
    """As compiled code raises it, to be caught by nobody who does not mean to."""


def test_a_panic_on_a_text_is_a_sentence(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise PanicException("called `Option::unwrap()` on a `None` value")

    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    pieces = LibraryTokenizer(tokenizer)
    monkeypatch.setattr(type(tokenizer), "__call__", panic)
    monkeypatch.setattr(type(tokenizer), "decode", panic)
    for use in (lambda: pieces.encode("The cat."), lambda: pieces.offsets("The cat."), lambda: pieces.decode([5])):
        with pytest.raises(InputTextError, match="fails on this text"):
            use()


def test_who_stops_the_program_is_obeyed(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    pieces = LibraryTokenizer(tokenizer)
    monkeypatch.setattr(type(tokenizer), "__call__", stop)
    with pytest.raises(KeyboardInterrupt):
        pieces.encode("The cat.")


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ValueError("Nothing of:\n(1) a file, or\n(2) a class."), "Nothing of: (1) a file, or (2) a class"),
        (ValueError("It is damaged.\nA second line."), "It is damaged"),
        (ValueError("one of:"), "one of"),
        (ValueError("a" * 200), "a" * 200),
        (ValueError("a" * 201), "a" * 200 + " …"),
        (KeyError(), "KeyError"),
    ],
)
def test_of_an_error_the_first_line_is_kept_and_what_it_only_announces(error: Exception, kept: str) -> None:
    assert first_words(error) == kept
