"""Folders that nobody has named: the person's cache, and temporary ones that a killed process does not leave for good.

Whoever makes the next temporary folder removes those. One is held locked by the process that made it. The system lets
go of a lock however a process ends, and of no other's, in another container for example. Where folders cannot be locked
(Windows), a file in it is held open instead, which nobody can remove meanwhile.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import Final

try:
    import fcntl
except ImportError:  # Windows.
    fcntl = None  # type: ignore[assignment]

_PREFIX: Final = ".headlight-"
_HELD: Final = ".held"
#: Seconds after which a folder that nobody holds is left over, and not just made.
SETTLED: Final = 10


def cached_folder(name: str) -> Path | None:
    """`headlight/NAME` in the person's cache, where what took long to compute is kept; None if there is none, or it is
    a link.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # The XDG specification: a relative path is to be ignored.
        root = named if named.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    folder = root / "headlight" / name
    return None if folder.is_symlink() else folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder into which several processes write; another one waits. Raises an OSError where that cannot be."""
    if fcntl is None:
        raise OSError("this system cannot lock a folder")
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


class TemporaryFolder:
    """A new folder in `home`, by default the system's for such, for its maker alone, until it is removed."""

    def __init__(self, kind: str, home: Path | None = None) -> None:
        home = home or Path(gettempdir())
        remove_left(home)
        self.path = Path(mkdtemp(prefix=f"{_PREFIX}{kind}-", dir=home))
        self._lock: int | None = None
        # Some file systems have no locks: there nobody removes what is left.
        with suppress(OSError):
            self._lock = _locked(self.path)

    def remove(self) -> None:
        """Remove it with all that is in it, as far as that can be."""
        _remove(self.path, self._lock)


@contextmanager
def temporary_folder(kind: str, home: Path | None = None) -> Iterator[Path]:
    """Such a folder while the block lasts."""
    folder = TemporaryFolder(kind, home)
    try:
        yield folder.path
    finally:
        folder.remove()


def remove_left(home: Path) -> None:
    """Remove the folders in `home` that processes made which have ended."""
    with suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > SETTLED:
                    _remove(Path(entry.path), _locked(Path(entry.path)))


def _remove(folder: Path, lock: int | None) -> None:
    if fcntl is None and lock is not None:
        # An open file cannot be removed there.
        os.close(lock)
    rmtree(folder, ignore_errors=True)
    if fcntl is not None and lock is not None:
        os.close(lock)


def _locked(folder: Path) -> int:
    """What holds a folder, to be closed. Raises an OSError if another process holds it, or it is another person's."""
    if fcntl is None:
        with suppress(FileNotFoundError):
            (folder / _HELD).unlink()
        return os.open(folder / _HELD, os.O_CREAT | os.O_RDWR)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(held).st_uid != os.getuid():
            raise PermissionError(f"{folder} is another person's")
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held
