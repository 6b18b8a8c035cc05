"""Try a tokenizer of unknown origin once, in a process of its own with limits on time and memory.

A tokenizer runs expressions and tables that its files bring along, in compiled code, which can take all memory, never
return, or end the process. What it does to the process of a trial it would have done to the server.

The files that a tokenizer, or what reads pictures, is made of are bounded and copied to a folder of our own. A library
opens files by their names, and another file may stand there by then. What was bounded, tried in a process of its own
(`tokenizer_trial`) and opened at last are therefore the same bytes: those of the copy.
"""

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Final

from model.adapters.folder_check import CONFIG, TOKENIZER_FILES, Folder
from model.adapters.limited_process import answer_of
from model.errors import CheckpointError
from model.folder_files import read_file
from model.messages import said

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

    Raises a CheckpointError if a file is too large, leads out of the folder, or cannot be read.
    """
    name, home = folder.name, folder.tokenizer
    config = {key: folder.config[key] for key in _OF_CONFIG if isinstance(folder.config.get(key), str | int)}
    contents = {CONFIG: json.dumps(config).encode()}
    for file, largest in LARGEST.items():
        if (home / file).is_file():
            try:
                contents[file] = read_file(home, file, largest)
            except OSError as error:
                message = "{name}/{file} cannot be read ({strerror}). Copy it again."
                raise CheckpointError(message, name=name, file=file, strerror=error.strerror) from error
    whole = hashlib.sha256()
    with TemporaryDirectory(prefix="headlight-tokenizer-") as made:
        for file, content in contents.items():
            (Path(made) / file).write_bytes(content)
            whole.update(f"{file}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        yield TokenizerCopy(Path(made), whole.hexdigest())


#: Seconds of computing, and bytes of memory, that a trial may take.
SECONDS: Final = 40
MEMORY: Final = 3 << 30
#: Seconds by the clock; a machine that has much else to do is slow.
PATIENCE: Final = 120
MAX_REMEMBERED: Final = 256
#: Digest of a tokenizer → what is wrong with it, "" if nothing is.
_tried: Final[dict[str, str]] = {}


def try_once(copy: TokenizerCopy, name: str) -> None:
    """Open the tokenizer and cut a few texts, in another process, unless the same files were tried before.

    Raises a CheckpointError if it cannot be opened, or takes too much time or memory. `name` is that of the folder, for
    messages.
    """
    wrong = _tried.get(copy.digest)
    if wrong is None:
        try:
            wrong = _outcome(copy.path)
        except subprocess.TimeoutExpired as error:
            message = (
                "The tokenizer in {name} was not opened within {patience} seconds. Try again when this machine is less "
                "busy."
            )
            raise CheckpointError(message, name=name, patience=PATIENCE) from error
        while len(_tried) >= MAX_REMEMBERED:
            _tried.pop(next(iter(_tried)), None)
        _tried[copy.digest] = wrong
    if wrong:
        message = (
            "The tokenizer in {name} cannot be used: {wrong}. Save it in the folder of the model with "
            "`tokenizer.save_pretrained(folder)`, or choose another model."
        )
        raise CheckpointError(message, name=name, wrong=wrong)


def _outcome(path: PurePath) -> str:
    """What is wrong with a tokenizer, as a part of a sentence; "" if nothing is."""
    program = f"{__package__}.tokenizer_trial_process"
    answer = answer_of(program, [str(path)], seconds=SECONDS, memory=MEMORY, patience=PATIENCE)
    if answer is None or "wrong" not in answer:
        message = (
            "opening it and splitting a few texts takes more than {seconds} seconds or {memory:.3g} GB, or ends the "
            "process"
        )
        return said(message, seconds=SECONDS, memory=MEMORY / 2**30)
    wrong = str(answer["wrong"]).encode("utf-8", errors="replace").decode()
    # As it is, in a quoted text of Python, and as some libraries write it on Windows.
    for shown in (str(path), repr(str(path))[1:-1], path.as_posix()):
        wrong = wrong.replace(shown, "its folder")
    return wrong
