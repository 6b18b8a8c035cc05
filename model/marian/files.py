"""The files of a MarianMT folder in Hugging Face's form, each bounded before it is read.

config.json · model.safetensors (or shards with their index) · source.spm · target.spm · vocab.json. Every file is in
the folder itself, or where the hub's cache that the folder belongs to keeps its files, and has a bounded size.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from model import checked
from model.checked import Malformed
from model.errors import CheckpointError
from model.hub import is_hub_blob

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
SOURCE, TARGET, VOCABULARY = "source.spm", "target.spm", "vocab.json"
TOKENIZER_SETTINGS, TARGET_VOCABULARY = "tokenizer_config.json", "target_vocab.json"
PICKLED: Final = "pytorch_model.bin"
#: Bytes beyond which a file is refused.
LARGEST: Mapping[str, int] = {
    CONFIG: 1 << 20,
    TOKENIZER_SETTINGS: 1 << 20,
    INDEX: 8 << 20,
    SOURCE: 32 << 20,
    TARGET: 32 << 20,
    VOCABULARY: 64 << 20,
    WEIGHTS: 16 << 30,
}
MAX_SHARDS: Final = 100


def digest(folder: Path) -> str:
    """SHA-256 over everything that the model and tokenizer are made from."""
    whole = hashlib.sha256()
    for name in (CONFIG, SOURCE, TARGET, VOCABULARY, *weight_files(folder)):
        with file_path(folder, name).open("rb") as file:
            whole.update(name.encode())
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def weight_files(folder: Path) -> list[str]:
    """The names of the weight files: a single one, or those that an index lists.

    Raises:
        CheckpointError: there are none, or none of a kind that is read.
    """
    if (folder / WEIGHTS).exists():
        return [WEIGHTS]
    if not (folder / INDEX).exists():
        advice = "convert it with `MarianMTModel.from_pretrained(folder).save_pretrained(folder)` of transformers"
        raise CheckpointError(
            f"{folder.name} holds its weights as {PICKLED} only, which can run code when it is read; {advice}."
            if (folder / PICKLED).exists()
            else f"{folder.name} lacks {WEIGHTS}."
        )
    try:
        named = checked.json_object(json_file(folder, INDEX).get("weight_map"), "weight_map").values()
        files = sorted({checked.text(file, "a file of weight_map") for file in named})
        if not 1 <= len(files) <= MAX_SHARDS or not all(
            Path(file).name == file and file.endswith(".safetensors") for file in files
        ):
            raise Malformed(f"weight_map must name 1 to {MAX_SHARDS} safetensors files of this folder")
    except Malformed as error:
        raise CheckpointError(f"{folder.name}/{INDEX}: {error}.") from error
    return files


def json_file(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of the folder.

    Raises:
        CheckpointError: it is missing, too large, outside of the folder, or no JSON object.
    """
    try:
        return checked.parsed(file_bytes(folder, name).decode("utf-8"))
    except (Malformed, UnicodeDecodeError) as error:
        raise CheckpointError(f"{folder.name}/{name} cannot be read: {error}.") from error


def file_bytes(folder: Path, name: str) -> bytes:
    """The bytes of a file of the folder.

    Raises:
        CheckpointError: it is missing, too large, outside of the folder, or cannot be read.
    """
    try:
        return file_path(folder, name).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{folder.name}/{name} cannot be read: {error.strerror}.") from error


def file_path(folder: Path, name: str) -> Path:
    """The path of a file of the folder.

    Raises:
        CheckpointError: it is missing, too large, or outside of the folder.
    """
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{folder.name} lacks {name}; copy it again from its origin.")
    root = folder.resolve()
    if path.resolve().parent != root and not is_hub_blob(path, root):
        raise CheckpointError(
            f"{folder.name}/{name} is a link out of its folder; copy the files themselves (`cp -rL`) into one folder."
        )
    most = LARGEST.get(name, LARGEST[WEIGHTS])
    if path.stat().st_size > most:
        raise CheckpointError(f"{folder.name}/{name} has more than {most:,} bytes; it is refused.")
    return path
