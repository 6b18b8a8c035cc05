"""Write weights that are not safetensors as such, in a separate process: those that torch pickled, and GGUF."""

import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from model.adapters.folder_check import LARGEST_WEIGHTS, Folder, check_folder, gguf_file, pickled_files
from model.adapters.limited_process import answer_of
from model.errors import CheckpointError, DataError, said
from model.file_writing import make_folder, remove_oldest
from model.folder_files import named_file, open_file
from model.sealed_files import read_sealed, sealed_name, write_sealed
from model.temporary_folders import temporary_folder

#: Seconds of computing, and by the clock, and bytes of memory beside those of the weights, that it may take.
SECONDS: Final = 600
PATIENCE: Final = 900
MEMORY: Final = 8 << 30
#: GGUF files whose numbers are kept: they take several times as many bytes as the files.
MOST_KEPT: Final = 3
#: Bytes of memory for each of a file: pickled weights are copied; those of GGUF may be numbers of 2 bits.
FOR_A_BYTE: Final = {"pickled": 3, "gguf": 36}
#: In a kept folder, beside that of the model: the digest of this.
_SEAL: Final = "seal.json"


@contextmanager
def readable_folder(path: Path, cache: Path | None) -> Iterator[Folder]:
    """A folder, or a GGUF file, checked, with safetensors for as long as the block lasts, whatever its weights are.

    What a few GGUF files held is kept in the folder `cache`, if there is one. Raises a CheckpointError as
    `check_folder` does, or if its weights cannot be read.
    """
    gguf = gguf_file(path)
    if gguf is None and not pickled_files((folder := check_folder(path)).path):
        yield folder
        return
    with temporary_folder("weights") as made:
        if gguf is None:
            write_safetensors(folder.path, made)
            yield folder.with_weights_in(made)
        else:
            name = path.stem if path.is_file() else path.name
            found = _kept_gguf(gguf, name, cache) if cache is not None else None
            yield check_folder(found or _write_gguf(gguf, made / name))


def write_safetensors(folder: Path, target: Path) -> None:
    """Write the pickled weights of a folder into another one.

    Raises a CheckpointError if they hold anything but plain tensors, or take too much time or memory.
    """
    pickled = pickled_files(folder)
    if wrong := _wrong_with("pickled", pickled, target):
        message = (
            "{pickled} in {name} cannot be read as plain tensors ({wrong}), and pickle can run any program when it is "
            "opened. If you trust the file, load the model in Python and call `model.save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=folder.name, pickled=pickled[0].name, wrong=wrong)


def _kept_gguf(file: Path, name: str, cache: Path) -> Path | None:
    """A kept folder with what is in a GGUF file; None where nothing can be kept. Raises as `_write_gguf`.

    It is made again unless all of its bytes are those that were made of this content.
    """
    with open_file(file.parent, file.name, LARGEST_WEIGHTS) as opened:
        content = hashlib.file_digest(opened, "sha256").hexdigest()
    kept = cache / "gguf"
    home = kept / sealed_name(content, name)
    if not _is_whole(cache, home, name):
        try:
            make_folder(kept, cache)
            with temporary_folder("gguf", kept) as made:
                written = _write_gguf(file, made / "whole" / name)
                digest = check_folder(written).digest()
                if os.path.lexists(home):
                    home.rename(made / "wrong")
                (made / "whole").rename(home)
            write_sealed(cache, home / _SEAL, {"folder": digest})
            remove_oldest(kept, MOST_KEPT)
        except (OSError, DataError):  # A full disk; or another process was faster.
            return home / name if _is_whole(cache, home, name) else None
    return home / name


def _is_whole(cache: Path, home: Path, name: str) -> bool:
    """Whether a kept folder is as it was made, to the last byte of all that is read of it."""
    sealed = read_sealed(cache, home / _SEAL)
    if sealed is None:
        return False
    try:
        return check_folder(home / name).digest() == sealed.get("folder")
    except CheckpointError:
        return False


def _write_gguf(file: Path, target: Path) -> Path:
    """Write what is in a GGUF file as a folder of transformers, its numbers as float32.

    Raises a CheckpointError if transformers cannot read it, or it takes too much time or memory.
    """
    target.mkdir(parents=True)
    if wrong := _wrong_with("gguf", [file], target):
        message = (
            "{name} is a GGUF file that cannot be read here ({wrong}). Open the folder of the model it was "
            "made from, with a config.json and safetensors."
        )
        raise CheckpointError(message, name=file.name, wrong=wrong)
    return target


def _wrong_with(kind: str, files: Sequence[Path], target: Path) -> str:
    """Write what is in these files of one folder into another; why that cannot be, or ""."""
    with ExitStack() as stack:
        held = [stack.enter_context(named_file(file.parent, file.name, LARGEST_WEIGHTS)) for file in files]
        memory = MEMORY + FOR_A_BYTE[kind] * sum(file.stat().st_size for file in held)
        try:
            answer = answer_of(
                f"{__package__}.weights_process",
                [kind, str(target), *map(str, held)],
                seconds=SECONDS,
                memory=memory,
                patience=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            answer = None
    return said("it takes too much time or RAM") if answer is None else str(answer.get("wrong", ""))
