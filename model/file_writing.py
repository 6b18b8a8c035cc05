"""Write files so that nothing whole is lost, and nothing through a link that a person did not name: the one home of it.

A regular file is replaced in one move once all of its new content is written, so that a full disk or a kill at any
moment leaves the old one or the new one. Anything else that a person names (a device, a pipe) is written into directly,
never replaced; `-` is standard output. A path that a person names may pass links, and these stay. Below a folder that
we made ourselves, or were given to fill (`inside`), no folder may be a link, and a link in place of a file is replaced.
"""

import errno
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from safetensors import SafetensorError

from model.errors import DataError

#: Raised when a field of what a command prints goes or changes its meaning: .github/docs/json.md lists the fields.
JSON_VERSION: Final = 1
_NAME: Final = ".headlight-*.partial"
#: As a person names standard output.
STANDARD_OUTPUT: Final = Path("-")
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
#: To open a pipe without it waits for who reads.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
#: Pipes that were opened before long work, by their real paths.
_PIPES: Final[dict[str, int]] = {}


def json_text(content: Mapping[str, object]) -> str:
    """What a command prints with `--json`: its content behind the version of all such output."""
    return json.dumps({"version": JSON_VERSION, **content})


def write_bytes(path: Path, content: bytes, inside: Path | None = None, mode: int | None = None) -> None:
    """Write a file, whole or not at all. Arguments and errors are those of `written_path`."""
    with written_file(path, inside, mode) as file:
        file.write(content)


def write_text(path: Path, content: str, inside: Path | None = None) -> None:
    """Write a file of UTF-8 text, whole or not at all. Arguments and errors are those of `written_path`."""
    write_bytes(path, content.encode("utf-8"), inside)


def append_line(path: Path, line: str, inside: Path) -> None:
    """Add a line to a file in a folder that we fill. Raises as `written_path`, and if the file is a link or a pipe."""
    _check_links(path, inside)
    with said_plainly(path), _held(path.parent, inside) as held:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINKS | _NO_WAIT
        with os.fdopen(os.open(_at(path, held), flags, 0o666, dir_fd=held), "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def remove_oldest(folder: Path, most: int) -> None:
    """Remove files and folders of a folder, those changed longest ago, until there are at most so many.

    Those whose names begin with a dot are being written and do not count. Raises an OSError where the folder cannot be
    read, or one in it has gone meanwhile.
    """
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    for entry in sorted(entries, key=lambda entry: entry.lstat().st_mtime_ns, reverse=True)[most:]:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


@contextmanager
def written_file(path: Path, inside: Path | None = None, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file to write in the block, which takes this path when that ends without an error; as `written_path`."""
    with _unfinished(path, inside, mode) as (_path, opened), os.fdopen(opened, "wb") as file:
        yield file


@contextmanager
def written_path(path: Path, inside: Path | None = None, mode: int | None = None) -> Iterator[Path]:
    """As `written_file`, for a library that opens files by their names: the path that it is to write.

    Raises a DataError if the file cannot be written: there is no such folder, the disk is full, …

    Args:
        path: as a person named it, or below `inside`.
        inside: a folder that we fill, below which nothing is written through a link.
        mode: who may do what with the file, as of `os.open`; by default one that is replaced hands on its own.
    """
    with _unfinished(path, inside, mode) as (unfinished, opened):
        os.close(opened)
        yield unfinished


@contextmanager
def _unfinished(path: Path, inside: Path | None, mode: int | None) -> Iterator[tuple[Path, int]]:
    """A new file, by its path and opened, which the block closes and which then takes a path; as `written_path`."""
    check_writable(path, inside)
    target = Path(os.path.realpath(path)) if inside is None else path
    is_replaced = inside is not None or (path != STANDARD_OUTPUT and (not target.exists() or target.is_file()))
    home = target.parent if is_replaced else Path(tempfile.gettempdir())
    unfinished = home / _NAME.replace("*", secrets.token_hex(8))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with said_plainly(path), _held(home, inside or home) as held:
            opened = os.open(_at(unfinished, held), flags, 0o666 if mode is None else mode, dir_fd=held)
            try:
                given = stat.S_IMODE(os.fstat(opened).st_mode)
                yield unfinished, opened
                if not is_replaced:
                    with unfinished.open("rb") as content, _written_directly(path) as device:
                        shutil.copyfileobj(content, device)
                    return
                with suppress(FileNotFoundError):
                    before = os.stat(_at(target, held), dir_fd=held, follow_symlinks=False).st_mode
                    given = stat.S_IMODE(before) if mode is None and stat.S_ISREG(before) else given
                # Libraries that make files by way of others give these to their owner alone.
                os.chmod(_at(unfinished, held), given, dir_fd=held)
                os.replace(_at(unfinished, held), _at(target, held), src_dir_fd=held, dst_dir_fd=held)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(_at(unfinished, held), dir_fd=held)
    except SafetensorError as error:
        # The library says what the system said, in words of its own.
        said_by_system = re.search(r"I/O error: (.+?) \(os error", str(error))
        reason = str(error) if said_by_system is None else _lower_first(said_by_system[1])
        raise DataError("{path} cannot be written: {reason}.", path=path, reason=reason) from error


@contextmanager
def _written_directly(path: Path) -> Iterator[BinaryIO]:
    """Standard output, a pipe that `check_writable` has opened, or a device."""
    if path == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    held = _PIPES.pop(os.path.realpath(path), None)
    with path.open("wb") if held is None else os.fdopen(held, "wb") as device:
        yield device


@contextmanager
def _held(folder: Path, inside: Path, *, makes: bool = False) -> Iterator[int | None]:
    """A folder, opened step by step from `inside` without following a link; None where a system cannot hold folders.

    Raises a DataError if a step is a link. `makes`: make the folders that are missing.
    """
    _check_links(folder, inside)
    if os.open not in os.supports_dir_fd:
        if makes:
            folder.mkdir(parents=True, exist_ok=True)
        yield None
        return
    held = os.open(inside, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in folder.relative_to(inside).parts:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=held)
            above, held = held, os.open(step, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS, dir_fd=held)
            os.close(above)
        yield held
    finally:
        os.close(held)


def _at(path: Path, held: int | None) -> str:
    """A file as the system is asked for it where its folder is held, or not."""
    return str(path) if held is None else path.name


def _check_links(path: Path, inside: Path) -> None:
    """Raise a DataError if a step from a folder to a path is a link."""
    steps = path.relative_to(inside).parts
    real, expected = os.path.realpath(path), os.path.join(os.path.realpath(inside), *steps)
    if os.path.normcase(real) != os.path.normcase(expected):
        message = (
            "{path} leads through a link inside {inside}, and nothing is written there through links. Remove the "
            "link, or use another folder."
        )
        raise DataError(message, path=path, inside=inside)


def forget_unfinished(folder: Path) -> None:
    """Delete what a killed process has left half written in a folder into which no other writes."""
    for unfinished in folder.glob(_NAME):
        unfinished.unlink(missing_ok=True)


def check_writable(path: Path, inside: Path | None = None) -> None:
    """Before long work: raise a DataError if a file cannot be written, as it is a folder or its folder is missing.

    A pipe is opened, for its reader would take the end of a short look for the end of all; it is refused if there is no
    reader. Arguments are those of `written_path`.
    """
    if path == STANDARD_OUTPUT:
        if sys.stdout.isatty():
            raise DataError("Standard output is a terminal: send it to a file or a program, or name a file.")
        return
    with said_plainly(path):
        if path.is_dir() and not (inside and path.is_symlink()):
            raise DataError("{path} is a folder. Name a file, for example one in that folder.", path=path)
        if not path.parent.is_dir():
            message = "There is no folder {parent}, so {name} cannot be written."
            raise DataError(message, parent=path.parent, name=path.name)
        if inside is not None:
            _check_links(path.parent, inside)
        elif path.exists() and not os.access(path, os.W_OK):
            raise DataError("{path} cannot be written: permission denied.", path=path)
        elif path.is_fifo():
            _open_pipe(path)
            return
        if inside is not None or not path.exists() or path.is_file():
            _check_access(path, path.parent if inside else Path(os.path.realpath(path)).parent)


def _open_pipe(path: Path) -> None:
    """Open a pipe without waiting for who reads it, to be written into later."""
    name = os.path.realpath(path)
    if name in _PIPES:
        return
    try:
        held = os.open(name, os.O_WRONLY | _NO_WAIT)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        message = "{path} is a pipe that no program reads. Start the program that reads it first."
        raise DataError(message, path=path) from error
    os.set_blocking(held, True)
    _PIPES[name] = held


def check_folder(folder: Path, inside: Path | None = None) -> None:
    """Before long work: raise a DataError if a folder can neither be made nor written into. Nothing is made.

    `inside` is that of `written_path`.
    """
    if folder == STANDARD_OUTPUT:
        raise DataError("Standard output (-) cannot be a folder. Name a folder to write into.")
    with said_plainly(folder):
        if inside is not None:
            _check_links(folder, inside)
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not there.is_dir():
            raise DataError("{there} is not a folder. Name a folder to write into.", there=there)
        _check_access(folder, there)


def make_folder(folder: Path, inside: Path | None = None) -> None:
    """Make a folder, with those above it, unless it is there. Raises as `check_folder`."""
    check_folder(folder, inside)
    with said_plainly(folder):
        root = inside or folder
        root.mkdir(parents=True, exist_ok=True)
        with _held(folder, root, makes=True):
            pass


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
