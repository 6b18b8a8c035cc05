"""Open the files of a model's folder, which may come from anywhere and may have changed since it was looked at.

Every file of such a folder is opened by `open_file`, with a limit on its size and without following links. The one
exception is a link to a file of the same folder, or to where the hub's cache that the folder belongs to keeps the files
of all versions. Windows can only follow links; there, as everywhere, what was opened is compared with what lies at the
checked path, and refused if that is another file. A library that opens files by their names is given `named_file`,
which holds the file open meanwhile.

`hub_folder` fetches a model of the Hugging Face hub by its name. Only settings, tokenizers and safetensors are fetched,
never code or pickle.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Final

from model.checked import has_surrogate
from model.errors import CheckpointError, DataError

PATTERNS: Final = ("*.safetensors", "*.json", "*.txt", "*.model", "*.spm")
#: Repositories often hold the same model for other programs too.
NOT_WANTED: Final = ("*/*",)
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def hub_folder(name: str) -> Path:
    """The folder on this machine that holds a model of the hub, fetched unless it is in the cache.

    Raises a CheckpointError if the name is none, or the model cannot be fetched.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        message = "{name!r} is not a model name; model names look like google-bert/bert-base-uncased."
        raise CheckpointError(message, name=name[:100])
    # Imported here: it opens no connection, but few need it.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(PATTERNS), ignore_patterns=list(NOT_WANTED)))
    except Exception as error:  # The hub's client raises errors of many libraries.
        message = "{name} could not be fetched: {error}"
        raise CheckpointError(message, name=name, error=" ".join(str(error).split())[:200]) from error


def kept_of_hub(name: str) -> Path | None:
    """The folder of a model of the hub in this machine's cache; None if it is not there. Fetches nothing."""
    if not _NAME.fullmatch(name) or ".." in name:
        return None
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def is_hub_blob(file: Path, root: Path) -> bool:
    """Whether a link of a folder (`root`, resolved) leads to where the hub's cache keeps the files of all versions."""
    in_cache = root.parent.name == "snapshots"
    return in_cache and file.resolve().parent == root.parent.parent / "blobs"


#: Files and folders that a model's folder may hold; the largest models come in a few hundred parts.
MAX_ENTRIES: Final = 2_000
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
#: Without O_NONBLOCK, to open a named pipe would wait for whoever writes into it.
_FLAGS: Final = os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def entries(folder: Path) -> list[Path]:
    """All that lies in a folder. Raises a CheckpointError if it cannot be listed, is too much, or a name is no text."""
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in islice(found, MAX_ENTRIES + 1)]
    except OSError as error:
        shown = ascii(folder.name)[1:-1]
        raise CheckpointError(
            "The folder {shown} does not exist or cannot be read ({strerror}).", shown=shown, strerror=error.strerror
        ) from error
    for name in (str(folder), *names):
        if has_surrogate(name):
            raise CheckpointError(
                "{name!a} is not a UTF-8 name, so this folder cannot be opened. Rename it and try again.", name=name
            )
    if len(names) > MAX_ENTRIES:
        message = (
            "{name} contains more than {max_entries:,} files, far more than a model has. Choose the folder of "
            "the model itself, or copy its files into one folder."
        )
        raise CheckpointError(message, name=folder.name, max_entries=MAX_ENTRIES)
    return [folder / name for name in sorted(names)]


def named_folder(folder: str | Path) -> Path:
    """The same folder by a path that ends in its name, which messages repeat: "" and ".." are no names.

    Raises a CheckpointError if it is the root of the file system.
    """
    path = Path(folder)
    if path.name in ("", ".."):
        path = path.resolve()
    if not path.name:
        raise CheckpointError("{path} is the root of the file system; choose the folder of a model.", path=path)
    return path


def open_file(folder: Path, name: str, largest: int) -> BufferedReader:
    """A file of a folder, opened for reading.

    Raises:
        CheckpointError: it is a link out of the folder, no ordinary file, or has more bytes than `largest`.
        OSError: it is not there, or cannot be read.
    """
    path = _real_path(folder, name)
    if os.open in os.supports_dir_fd:
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS)
        try:
            opened = os.open(path.name, _FLAGS, dir_fd=parent)
        finally:
            os.close(parent)
    else:
        opened = os.open(path, _FLAGS)
    file = os.fdopen(opened, "rb")
    try:
        _check_same(file, folder, name, path)
        if os.fstat(opened).st_size > largest:
            raise _too_large(folder, name, largest)
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def named_file(folder: Path, name: str, largest: int) -> Iterator[Path]:
    """The path of a file of a folder, for a library that opens it by its name while the block lasts.

    Raises:
        CheckpointError: as `open_file`, or when the block ends another file stands there than the one that was checked.
        OSError: it is not there, or cannot be read.
    """
    path = _real_path(folder, name)
    with open_file(folder, name, largest) as file:
        yield path
        _check_same(file, folder, name, path)


def _check_same(file: BufferedReader, folder: Path, name: str, path: Path) -> None:
    """What is open is an ordinary file, and the one that lies at this path of the folder.

    Were a folder above it exchanged meanwhile, another file would have been opened than the one that was checked.
    """
    now = os.fstat(file.fileno())
    if not stat.S_ISREG(now.st_mode) or not os.path.samestat(now, os.lstat(path)) or _real_path(folder, name) != path:
        message = "{folder}/{file} is not a regular file, or it has just changed; copy the file again."
        raise CheckpointError(message, folder=folder.name, file=name)


def _real_path(folder: Path, name: str) -> Path:
    """Where a file of a folder really is, or would be. Raises a CheckpointError if that is outside of the folder."""
    root, path = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / name))
    if path.parent != root and not is_hub_blob(path, root):
        message = (
            "{folder}/{file} is a link that leads out of the folder, and Headlight does not follow such links; copy "
            "the files themselves into one folder: `cp -rL FOLDER NEW`."
        )
        raise CheckpointError(message, folder=folder.name, file=name)
    return path


def read_file(folder: Path, name: str, largest: int) -> bytes:
    """The content of a file of a folder. Raises as `open_file`."""
    with open_file(folder, name, largest) as file:
        # It may grow meanwhile. Memory is taken for as many bytes as are asked for, whether they are there or not.
        content = file.read(min(largest, os.fstat(file.fileno()).st_size) + 1)
    if len(content) > largest:
        raise _too_large(folder, name, largest)
    return content


@contextmanager
def read_as_data(path: Path, missing: DataError | None = None) -> Iterator[None]:
    """What goes wrong where a file is read that a person has named as data becomes a sentence.

    Raises a DataError if something went wrong. `missing` is what is said where there is none.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise missing or DataError("There is no file {path}.", path=path) from error
    except CheckpointError as error:
        raise DataError(error.message) from error
    except OSError as error:
        raise DataError("{path} cannot be read: {error}.", path=path, error=error.strerror) from error


@contextmanager
def read_as_model(folder: Path, name: str) -> Iterator[None]:
    """What the system says in the block of a model's file raises a CheckpointError, in a sentence."""
    try:
        yield
    except OSError as error:
        message = "{folder}/{file} cannot be read: {strerror}."
        raise CheckpointError(message, folder=folder.name, file=name, strerror=error.strerror) from error


def _too_large(folder: Path, name: str, largest: int) -> CheckpointError:
    message = "{folder}/{file} has more than {largest:,} bytes, too many to read."
    return CheckpointError(message, folder=folder.name, file=name, largest=largest)
