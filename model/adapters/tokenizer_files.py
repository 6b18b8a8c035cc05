"""Bound the files that a tokenizer, or what reads pictures, is made of, and copy them to a folder of our own.

A library opens files by their names, and another file may stand there by then. What was bounded, tried in a process of
its own (`tokenizer_trial`) and opened at last are therefore the same bytes: those of the copy.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from model.adapters.folder_check import CONFIG, TOKENIZER_FILES, Folder
from model.errors import CheckpointError
from model.folder_files import read_file

TOKENIZER_SETTINGS: Final = "tokenizer_config.json"
CHAT_TEMPLATE: Final = "chat_template.jinja"
#: Files that tokenizers and image processors are made of → bytes beyond which one is refused.
LARGEST: Final[Mapping[str, int]] = {
    **TOKENIZER_FILES,
    **dict.fromkeys((TOKENIZER_SETTINGS, "special_tokens_map.json", "added_tokens.json", CHAT_TEMPLATE), 8 << 20),
    **dict.fromkeys(("preprocessor_config.json", "processor_config.json"), 1 << 20),
}
#: What a tokenizer may learn from config.json.
_OF_CONFIG: Final = ("model_type", "tokenizer_class", "transformers_version", "vocab_size")


@dataclass(frozen=True)
class TokenizerCopy:
    """A tokenizer's files in a folder of our own, and the SHA-256 over them."""

    path: Path
    digest: str


@contextmanager
def private_copy(folder: Folder) -> Iterator[TokenizerCopy]:
    """A copy of a folder's tokenizer and of what it reads from config.json, for as long as the block lasts.

    Raises:
        CheckpointError: a file is too large, leads out of the folder, or cannot be read.
    """
    name, home = folder.name, folder.tokenizer
    config = {key: folder.config[key] for key in _OF_CONFIG if isinstance(folder.config.get(key), str | int)}
    contents = {CONFIG: json.dumps(config).encode()}
    for file, largest in LARGEST.items():
        if (home / file).is_file():
            try:
                contents[file] = read_file(home, file, largest)
            except OSError as error:
                raise CheckpointError(
                    "{name}/{file} cannot be read ({strerror}). Copy it anew.",
                    name=name,
                    file=file,
                    strerror=error.strerror,
                ) from error
    whole = hashlib.sha256()
    with TemporaryDirectory(prefix="headlight-tokenizer-") as made:
        for file, content in contents.items():
            (Path(made) / file).write_bytes(content)
            whole.update(f"{file}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        yield TokenizerCopy(Path(made), whole.hexdigest())
