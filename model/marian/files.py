"""The files of a MarianMT folder in Hugging Face's form, each bounded before it is read.

config.json · model.safetensors (or shards with their index) · source.spm · target.spm · vocab.json. Every file is in
the folder itself, or where the hub's cache that the folder belongs to keeps its files, and has a bounded size.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from model import checked
from model.checked import Malformed
from model.errors import CheckpointError, said
from model.folder_files import named_file, open_file, read_as_model, read_file
from model.languages import html_language

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
TOKENIZER_SETTINGS, TARGET_VOCABULARY = "tokenizer_config.json", "target_vocab.json"
#: Bytes beyond which a file is refused.
LARGEST: Mapping[str, int] = {
    CONFIG: 1 << 20,
    TOKENIZER_SETTINGS: 1 << 20,
    INDEX: 8 << 20,
    SOURCE: 16 << 20,
    TARGET: 16 << 20,
    VOCABULARY: 16 << 20,
    WEIGHTS: 16 << 30,
}
MAX_SHARDS: Final = 100


def digest(folder: Path) -> str:
    """SHA-256 over everything that the model and tokenizer are made from."""
    whole = hashlib.sha256()
    for name in (CONFIG, SOURCE, TARGET, VOCABULARY, *weight_files(folder)):
        with open_file(folder, name, _largest(name)) as file:
            whole.update(name.encode())
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def weight_files(folder: Path) -> list[str]:
    """The names of the weight files: a single one, or those that an index lists.

    Raises a CheckpointError if there are none, or none of a kind that is read.
    """
    if (folder / WEIGHTS).exists():
        return [WEIGHTS]
    if not (folder / INDEX).exists():
        raise CheckpointError("{folder} lacks {file}.", folder=folder.name, file=WEIGHTS)
    try:
        named = checked.json_object(json_file(folder, INDEX).get("weight_map"), "weight_map").values()
        files = sorted({checked.text(file, said("a file of weight_map")) for file in named})
        if not 1 <= len(files) <= MAX_SHARDS or not all(
            Path(file).name == file and file.endswith(".safetensors") for file in files
        ):
            raise Malformed("weight_map must name 1 to {most} safetensors files of this folder", most=MAX_SHARDS)
    except Malformed as error:
        raise CheckpointError("{name}/{index}: {error}.", name=folder.name, index=INDEX, error=error) from error
    return files


def is_marian(folder: Path) -> bool:
    """Whether a folder says that it holds a MarianMT model in Hugging Face's form, whatever else is wrong with it."""
    try:
        return bool(json_file(folder, CONFIG).get("model_type") == "marian")
    except CheckpointError:
        return False


def is_opus_mt(folder: Path) -> bool:
    """Whether a MarianMT folder comes with the two SentencePiece models that its tokenizer is made of, and with one
    vocabulary: ours has a single table of pieces.

    Raises a CheckpointError if the settings of its tokenizer cannot be read.
    """
    return (folder / SOURCE).exists() and is_marian(folder) and not has_two_vocabularies(folder)


def has_two_vocabularies(folder: Path) -> bool:
    """Whether a MarianMT folder numbers the pieces of a source otherwise than a target's. Raises as `is_opus_mt`."""
    settings = json_file(folder, TOKENIZER_SETTINGS) if (folder / TOKENIZER_SETTINGS).exists() else {}
    return settings.get("separate_vocabs", False) is not False or (folder / TARGET_VOCABULARY).exists()


def languages(folder: Path) -> tuple[str, str]:
    """What a folder says that its model reads and writes, as HTML names languages; "" where it does not say."""
    try:
        settings = json_file(folder, TOKENIZER_SETTINGS)
    except CheckpointError:
        return "", ""
    source, target = (html_language(str(settings.get(name))) for name in ("source_lang", "target_lang"))
    return source, target


def targets(vocabulary: Iterable[str]) -> tuple[str, ...]:
    """The codes of the languages that a multilingual model can be told to write, by its pieces such as ">>deu<<"."""
    return tuple(piece[2:-2] for piece in vocabulary if piece.startswith(">>") and piece.endswith("<<"))


def json_file(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file. Raises a CheckpointError if it is missing, too large, elsewhere, or none."""
    try:
        return checked.parsed(file_bytes(folder, name).decode("utf-8"))
    except (Malformed, UnicodeDecodeError) as error:
        message = "{folder}/{file} cannot be read: {error}."
        raise CheckpointError(message, folder=folder.name, file=name, error=error) from error


def file_bytes(folder: Path, name: str) -> bytes:
    """The bytes of a file. Raises a CheckpointError if it is missing, too large, elsewhere, or cannot be read."""
    with read_as_model(folder, name):
        _check_there(folder, name)
        return read_file(folder, name, _largest(name))


def named_weights(folder: Path, name: str) -> AbstractContextManager[Path]:
    """A file's path, held in the block. Raises a CheckpointError if it is missing, too large, elsewhere, exchanged."""
    _check_there(folder, name)
    return named_file(folder, name, _largest(name))


def _largest(name: str) -> int:
    return LARGEST.get(name, LARGEST[WEIGHTS])


def _check_there(folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        raise CheckpointError("{folder} lacks {file}; copy it again from its source.", folder=folder.name, file=name)
