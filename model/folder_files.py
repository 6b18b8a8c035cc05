"""Open the files of a model's folder, which may come from anywhere and may have changed since it was looked at.

A file is opened without following links. The one exception is a link to a file of the same folder, or to where the
hub's cache that the folder belongs to keeps the files of all versions.
"""

import os
import stat
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Final

from model.errors import CheckpointError
from model.hub import is_hub_blob

#: Files and folders that a model's folder may hold; the largest models come in a few hundred parts.
MAX_ENTRIES: Final = 2_000
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
#: Without O_NONBLOCK, to open a named pipe would wait for whoever writes into it.
_FLAGS: Final = os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def entries(folder: Path) -> list[Path]:
    """Everything that lies in a folder, by name.

    Raises:
        CheckpointError: it cannot be listed, holds too much, or a name is no text.
    """
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in islice(found, MAX_ENTRIES + 1)]
    except OSError as error:
        shown = ascii(folder.name)[1:-1]
        raise CheckpointError(
            "The folder {shown} is not there, or cannot be read ({strerror}).", shown=shown, strerror=error.strerror
        ) from error
    for name in (str(folder), *names):
        if not _is_text(name):
            raise CheckpointError(
                "{name!a} is no name in UTF-8, so this folder cannot be opened. Rename it, and try again.", name=name
            )
    if len(names) > MAX_ENTRIES:
        raise CheckpointError(
            "{name} holds more than {max_entries:,} files, far more than a model has. Give the folder in which "
            "the model itself lies, or copy its files into one.",
            name=folder.name,
            max_entries=MAX_ENTRIES,
        )
    return [folder / name for name in sorted(names)]


def open_file(folder: Path, name: str) -> BufferedReader:
    """A file of a folder, opened for reading.

    Raises:
        CheckpointError: it is a link out of the folder, or no ordinary file.
        OSError: it is not there, or cannot be read.
    """
    path = real_path(folder, name)
    if os.open in os.supports_dir_fd:
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS)
        try:
            opened = os.open(path.name, _FLAGS, dir_fd=parent)
        finally:
            os.close(parent)
    else:
        opened = os.open(path, _FLAGS)
    file = os.fdopen(opened, "rb")
    now = os.fstat(opened)
    # Were a folder above it exchanged meanwhile, another file would have been opened than the one that was checked.
    if not stat.S_ISREG(now.st_mode) or not os.path.samestat(now, os.lstat(path)) or real_path(folder, name) != path:
        file.close()
        raise CheckpointError(
            "{folder}/{file} is no ordinary file, or it has just changed; copy the file anew.",
            folder=folder.name,
            file=name,
        )
    return file


def real_path(folder: Path, name: str) -> Path:
    """Where a file of a folder really lies; it need not exist.

    Raises:
        CheckpointError: outside of the folder.
    """
    root, path = Path(os.path.realpath(folder)), Path(os.path.realpath(folder / name))
    if path.parent != root and not is_hub_blob(path, root):
        raise CheckpointError(
            "{folder}/{file} is a link that leads outside of the folder, where Headlight does not read; copy the "
            "files themselves into one folder: `cp -rL FOLDER NEW`.",
            folder=folder.name,
            file=name,
        )
    return path


def read_file(folder: Path, name: str, largest: int) -> bytes:
    """The content of a file of a folder.

    Raises:
        CheckpointError: as `open_file`, or it has more bytes than `largest`.
        OSError: it is not there, or cannot be read.
    """
    with open_file(folder, name) as file:
        # Memory is taken for as many bytes as are asked for, whether they are there or not.
        content = file.read(min(largest, os.fstat(file.fileno()).st_size) + 1)
    if len(content) > largest:
        raise CheckpointError(
            "{folder}/{file} has more than {largest:,} bytes; it is refused.",
            folder=folder.name,
            file=name,
            largest=largest,
        )
    return content


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
