"""Folders with small random models, and readers of them, made once."""

import shutil
import socket
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from model.adapters import inspect_folder
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.opening import open_reader
from tests.model.adapters.zoo import BOTH, DECODERS, save_model, writer

#: Model types whose tests read text → their tokenizer.
TOKENIZERS = {"bert": "wordpiece", "mpnet": "wordpiece", "gpt2": "bytes", "bloom": "bytes", "mistral": "bytes"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Model type → a folder with such a model; not to be changed."""
    root = tmp_path_factory.mktemp("models")

    @cache
    def made(model_type: str) -> Path:
        return save_model(root / model_type, model_type, TOKENIZERS.get(model_type, "metaspace"))

    return made


@pytest.fixture(scope="session")
def opened(folder: Callable[[str], Path]) -> Callable[[str], TextReader]:
    """Model type → a reader of such a model."""

    @cache
    def read(model_type: str) -> TextReader:
        reader = open_reader(folder(model_type))
        assert isinstance(reader, TextReader)
        return reader

    return read


@pytest.fixture
def short_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written ends soon."""
    monkeypatch.setattr("model.adapters.generate_call.LONGEST_CONTINUATION", 24)
    monkeypatch.setattr("model.adapters.generate_call.EXTRA_LENGTH", 12)


@pytest.fixture(scope="session")
def writers() -> dict[str, TextWriter]:
    """Model type → a model that writes; not to be changed."""
    return {model_type: writer(model_type) for model_type in (*DECODERS, *BOTH)}


Folder = Callable[[str], Path]


@pytest.fixture
def bert(folder: Folder, tmp_path: Path) -> Path:
    """A folder with a BERT that a test may spoil."""
    return Path(shutil.copytree(folder("bert"), tmp_path / "bert"))


@pytest.fixture(autouse=True)
def trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokenizers of our own making are not tried first: each trial takes a second."""
    monkeypatch.setattr(inspect_folder, "answer_of", lambda *_, **__: {"wrong": ""})


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
