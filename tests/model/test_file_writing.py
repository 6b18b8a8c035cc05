"""Files are written whole or not at all, nothing but a regular file is replaced, and what fails is one sentence."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model.errors import DataError
from model.file_writing import (
    append_line,
    check_folder,
    check_writable,
    forget_unfinished,
    make_folder,
    remove_oldest,
    write_bytes,
    write_text,
    written_file,
    written_path,
)


def device(folder: Path, number: int) -> Path:
    """A device of our own: 3 takes everything, 7 is always full. Those of the system are nothing to try things on."""
    path = folder / f"device-{number}"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, number))
        path.open("wb").close()
    except OSError:
        pytest.skip("no device can be made here")
    return path


def by_bytes(path: Path) -> None:
    write_bytes(path, b"content")


def by_text(path: Path) -> None:
    write_text(path, "content")


def by_numpy(path: Path) -> None:
    with written_file(path) as file:
        np.savez(file, a=np.arange(50_000))


def by_safetensors(path: Path) -> None:
    with written_path(path) as unfinished:
        save_file({"a": torch.arange(50_000)}, unfinished)


@pytest.mark.parametrize(("most", "kept"), [(1, "b"), (2, "bc"), (3, "abc"), (5, "abc")])
def test_the_oldest_go_until_there_are_so_many_and_what_is_being_written_does_not_count(
    tmp_path: Path, most: int, kept: str
) -> None:
    for name, changed in (("a", 100), ("b", 300), ("c", 200), (".unfinished", 50)):
        (tmp_path / name).mkdir() if name == "c" else (tmp_path / name).touch()
        os.utime(tmp_path / name, (changed, changed))
    remove_oldest(tmp_path, most)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".unfinished", *kept]


WAYS = pytest.mark.parametrize("write", [by_bytes, by_text, by_numpy, by_safetensors])


@WAYS
def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.npz"
    write(path)
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    written = path.read_bytes()
    path.write_bytes(b"before")
    path.chmod(0o640)
    write(path)
    assert (path.stat().st_mode & 0o777, [file.name for file in tmp_path.iterdir()]) == (0o640, ["a.npz"])
    # Archives note the time.
    assert len(path.read_bytes()) == len(written)


@WAYS
def test_a_device_is_written_into_and_stays_one(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = device(tmp_path, 3)
    write(path)
    assert stat.S_ISCHR(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


@WAYS
def test_a_full_device_is_one_sentence_and_stays_one(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = device(tmp_path, 7)
    with pytest.raises(DataError) as error:
        write(path)
    assert str(error.value) == f"{path} cannot be written: no space left on device."
    assert stat.S_ISCHR(path.stat().st_mode)


@pytest.mark.parametrize("write", [check_writable, by_bytes, by_numpy, by_safetensors])
def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path: Path, write: Callable[[Path], None]) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    with pytest.raises(
        DataError, match=r"pipe is a pipe that no program reads\. Start the program that reads it first"
    ):
        write(path)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@WAYS
def test_a_minus_is_standard_output(write: Callable[[Path], None], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    check_writable(Path("-"))
    write(Path("-"))
    assert len(capfdbinary.readouterr().out) >= len(b"content")
    assert not Path("-").exists()
    with pytest.raises(DataError, match="cannot be a folder"):
        check_folder(Path("-"))


def test_nothing_binary_is_sent_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(DataError, match="Standard output is a terminal"):
        write_bytes(Path("-"), b"content")


@pytest.fixture(params=["held", "not held"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of ours beside another person's, on systems that hold folders open, and on one that cannot."""
    if request.param == "not held":
        monkeypatch.setattr(os, "supports_dir_fd", set())
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_text("theirs", encoding="utf-8")
    (tmp_path / "ours").mkdir()
    return tmp_path / "ours"


def inside(folder: Path) -> dict[str, Callable[[Path], None]]:
    def by_library(path: Path) -> None:
        with written_path(path, folder) as unfinished:
            save_file({"a": torch.arange(9)}, unfinished)

    return {
        "bytes": lambda path: write_bytes(path, b"ours", folder),
        "text": lambda path: write_text(path, "ours", folder),
        "library": by_library,
        "line": lambda path: append_line(path, "ours", folder),
        "folder": lambda path: make_folder(path, folder),
    }


@pytest.mark.parametrize("way", ["bytes", "text", "library", "line", "folder"])
def test_below_a_folder_that_we_fill_nothing_is_written_through_a_linked_folder(folder: Path, way: str) -> None:
    make_folder(folder / "a" / "b", folder)
    write_text(folder / "a" / "b" / "file", "ours", folder)
    (folder / "link").symlink_to(folder.parent / "theirs")
    (folder / "a" / "link").symlink_to(folder)
    write = inside(folder)[way]
    for path in (folder / "link" / "file", folder / "link" / "new", folder / "a" / "link" / "new"):
        with pytest.raises(DataError, match=r"leads through a link inside .*ours, and nothing is written there"):
            write(path)
    assert [file.read_text(encoding="utf-8") for file in (folder.parent / "theirs").iterdir()] == ["theirs"]
    assert not (folder / "new").exists()
    # The folder itself is a path that a person named.
    (folder.parent / "named").symlink_to(folder)
    for ours in (folder, folder.parent / "named"):
        inside(ours)[way](ours / "a" / "b" / f"{way} {ours.name}")
    assert len(list((folder / "a" / "b").iterdir())) == 3


@pytest.mark.parametrize("way", ["bytes", "text", "library"])
@pytest.mark.parametrize("there", ["link", "broken link", "pipe"])
def test_below_a_folder_that_we_fill_a_file_takes_the_place_of_a_link(folder: Path, way: str, there: str) -> None:
    theirs, path = folder.parent / "theirs", folder / "file"
    if there == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(theirs / ("file" if there == "link" else "none"))
    inside(folder)[way](path)
    assert path.is_file()
    assert not path.is_symlink()
    assert [file.read_text(encoding="utf-8") for file in theirs.iterdir()] == ["theirs"]


def test_a_line_is_added_through_no_link_and_to_no_pipe(folder: Path) -> None:
    log = folder / "log"
    for line in ("one", "two"):
        append_line(log, line, folder)
    assert log.read_text(encoding="utf-8") == "one\ntwo\n"
    log.unlink()
    log.symlink_to(folder.parent / "theirs" / "file")
    with pytest.raises(DataError, match="leads through a link"):
        append_line(log, "three", folder)
    assert (folder.parent / "theirs" / "file").read_text(encoding="utf-8") == "theirs"
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(DataError, match="log cannot be written: no such device"):
        append_line(log, "four", folder)


def test_the_oldest_is_a_link_and_goes_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "link").symlink_to(tmp_path / "theirs")
    (tmp_path / "cache" / "broken").symlink_to(tmp_path / "none")
    remove_oldest(tmp_path / "cache", 0)
    assert not list((tmp_path / "cache").iterdir())
    assert (tmp_path / "theirs").is_dir()


def test_a_link_stays_one_and_the_file_that_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (link := tmp_path / "link").symlink_to("far/file")
    by_bytes(link)
    assert link.is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == b"content"


@WAYS
def test_a_file_that_cannot_be_finished_stays_as_it_was(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), written_file(path) as file:
        stopped_after(file.write(b"half"))
    # A disk that is full as far as this process is concerned: files end after four bytes.
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, before[1]))
    try:
        with pytest.raises(DataError) as error:
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(error.value) == f"{path} cannot be written: file too large."
    assert (path.read_bytes(), len(list(tmp_path.iterdir()))) == (b"before", 1)


@pytest.mark.parametrize("check", [check_folder, make_folder])
def test_where_no_folder_can_be_made_is_said(
    tmp_path: Path, check: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("none")
    check(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir() == (check is make_folder)
    for path in (
        tmp_path / "file",
        tmp_path / "file" / "b",
        tmp_path / "link",
        tmp_path / "link" / "b",
        device(tmp_path, 3),
    ):
        with pytest.raises(DataError, match=r"is not a folder\. Name a folder"):
            check(path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataError, match="is not writable"):
        check(tmp_path / "c")


def test_what_a_killed_process_left_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with written_path(tmp_path / "a") as unfinished:
        unfinished.touch()
        left = tmp_path / unfinished.name.replace("-", "-0", 1)
        left.touch()
    forget_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "kept"]


def stopped_after(written: int) -> None:
    raise KeyboardInterrupt


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
