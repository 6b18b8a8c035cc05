"""Write files so that nothing whole is lost: the one home of it.

A regular file is replaced in one move once all of its new content is written, so that a full disk or a kill at any
moment leaves the old one or the new one. Anything else (a device, a pipe) is written into directly, never replaced.
"""

import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from safetensors import SafetensorError

from model.errors import DataError

#: Raised when a field of what a command prints goes or changes its meaning: .github/docs/json.md lists the fields.
JSON_VERSION: Final = 1
_UNFINISHED: Final = ".headlight-*.partial"


def json_text(content: Mapping[str, object]) -> str:
    """What a command prints with `--json`: its content behind the version of all such output."""
    return json.dumps({"version": JSON_VERSION, **content})


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all. Raises as `written_path`."""
    with written_path(path) as unfinished:
        unfinished.write_bytes(content)


def write_text(path: Path, content: str) -> None:
    """Write a file of UTF-8 text, whole or not at all. Raises as `written_path`."""
    write_bytes(path, content.encode("utf-8"))


def remove_oldest(folder: Path, most: int) -> None:
    """Remove files and folders of a folder, those changed longest ago, until there are at most so many.

    Those whose names begin with a dot are being written and do not count. Raises an OSError where the folder cannot be
    read, or one in it has gone meanwhile.
    """
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)[most:]:
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


@contextmanager
def written_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write in the block, which takes this path when that ends without an error. Raises as `written_path`."""
    with written_path(path) as unfinished, unfinished.open("wb") as file:
        yield file


@contextmanager
def written_path(path: Path) -> Iterator[Path]:
    """As `written_file`, for a library that opens files by their names: the path that it is to write.

    Raises a DataError if the file cannot be written: there is no such folder, the disk is full, …
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    is_replaced = not target.exists() or target.is_file()
    home = target.parent if is_replaced else Path(tempfile.gettempdir())
    unfinished = home / _UNFINISHED.replace("*", secrets.token_hex(8))
    try:
        with said_plainly(path):
            try:
                unfinished.touch()
                # Libraries that make files by way of others give these to their owner alone.
                mode = stat.S_IMODE((target if target.is_file() else unfinished).stat().st_mode)
                yield unfinished
                if not is_replaced:
                    with unfinished.open("rb") as content, target.open("wb") as device:
                        shutil.copyfileobj(content, device)
                else:
                    unfinished.chmod(mode)
                    unfinished.replace(target)
            finally:
                unfinished.unlink(missing_ok=True)
    except SafetensorError as error:
        # The library says what the system said, in words of its own.
        said_by_system = re.search(r"I/O error: (.+?) \(os error", str(error))
        reason = str(error) if said_by_system is None else _lower_first(said_by_system[1])
        raise DataError("{path} cannot be written: {reason}.", path=path, reason=reason) from error


def forget_unfinished(folder: Path) -> None:
    """Delete what a killed process has left half written in a folder into which no other writes."""
    for unfinished in folder.glob(_UNFINISHED):
        unfinished.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Before long work: raise a DataError if a file cannot be written, as it is a folder or its folder is missing."""
    with said_plainly(path):
        if path.is_dir():
            raise DataError("{path} is a folder. Give the name of a file, for example in that folder.", path=path)
        if not path.parent.is_dir():
            message = "There is no folder {parent}, so {name} cannot be written."
            raise DataError(message, parent=path.parent, name=path.name)
        if path.exists() and not os.access(path, os.W_OK):
            raise DataError("{path} cannot be written: permission denied.", path=path)
        if not path.exists() or path.is_file():
            _check_access(path, Path(os.path.realpath(path)).parent)


def check_folder(folder: Path) -> None:
    """Before long work: raise a DataError if a folder can neither be made nor written into. Nothing is made."""
    with said_plainly(folder):
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not there.is_dir():
            raise DataError("{there} is not a folder. Give the name of a folder to write into.", there=there)
        _check_access(folder, there)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, unless it is there. Raises as `check_folder`."""
    check_folder(folder)
    with said_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def said_plainly(path: Path) -> Iterator[None]:
    """What the system says in the block of a file that cannot be written raises a DataError, in a sentence."""
    try:
        yield
    except OSError as error:
        raise DataError("{path} cannot be written: {reason}.", path=path, reason=plain_reason(error)) from error


def plain_reason(error: OSError) -> str:
    """What the system says, without the number of the error and the name of the file."""
    return _lower_first(error.strerror or str(error) or type(error).__name__)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _check_access(path: Path, folder: Path) -> None:
    """New files can be made in a folder."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError("{path} cannot be written: {folder} is not writable.", path=path, folder=folder)


def print_in_utf_8() -> None:
    """Print UTF-8 into a file or another program on every system, and escape what a terminal cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
