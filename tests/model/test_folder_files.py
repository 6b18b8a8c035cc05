"""Files of a model's folder: no link leads out of it, at loading or later, and nothing strange is waited for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model.checkpoint import write_manifest
from model.errors import CheckpointError
from model.folder_files import entries, named_file, open_file, read_file
from model.training_record import read_card

NOT_ON_WINDOWS = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows has no such thing")
SECRET = "the secret of another person"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    inside = tmp_path / "model"
    inside.mkdir()
    (inside / "README.md").write_text("a card", encoding="utf-8")
    return inside


def link_out(folder: Path, name: str = "README.md") -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(folder.parent / "secret.txt")


def test_a_file_is_read_up_to_its_limit_and_not_beyond(folder: Path) -> None:
    assert read_file(folder, "README.md", 6) == b"a card"
    with pytest.raises(CheckpointError, match="more than 5 bytes"):
        read_file(folder, "README.md", 5)
    for opened in (open_file, named_file):
        with opened(folder, "README.md", 6):
            pass
        with pytest.raises(CheckpointError, match="more than 5 bytes"), opened(folder, "README.md", 5):
            pass
    with pytest.raises(FileNotFoundError):
        open_file(folder, "none", 1)


def test_a_folder_is_listed_up_to_its_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.folder_files.MAX_ENTRIES", 2)
    (folder / "second").touch()
    assert [path.name for path in entries(folder)] == ["README.md", "second"]
    (folder / "third").touch()
    with pytest.raises(CheckpointError, match="more than 2 files"):
        entries(folder)


def test_a_library_that_opened_another_file_by_the_name_is_noticed(folder: Path) -> None:
    with named_file(folder, "README.md", 6) as path:
        assert path.read_text(encoding="utf-8") == "a card"
    with pytest.raises(CheckpointError, match="has just changed"), named_file(folder, "README.md", 6) as path:
        path.replace(folder / "aside").with_name("README.md").write_text(SECRET, encoding="utf-8")


def test_a_link_within_the_folder_is_read(folder: Path) -> None:
    (folder / "CARD").symlink_to("README.md")
    assert read_file(folder, "CARD", 100) == b"a card"


@pytest.mark.parametrize("target", ["../secret.txt", "../gone.txt", "/etc/passwd", "sub/x"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, target: str) -> None:
    (folder / "sub").symlink_to("..")
    (folder / "x").symlink_to(target)
    with pytest.raises(CheckpointError, match="model/x is a link that leads out of the folder"):
        open_file(folder, "x", 100)


@pytest.mark.parametrize("kind", ["headlight", "of elsewhere"])
def test_a_card_that_became_a_link_is_not_shown(folder: Path, kind: str) -> None:
    if kind == "headlight":
        # The hash that the manifest lists is that of the file outside.
        (folder / "README.md").write_text(SECRET, encoding="utf-8")
        write_manifest(folder)
        assert read_card(folder) == SECRET
    else:
        assert read_card(folder) == "a card"
    link_out(folder)
    with pytest.raises(CheckpointError, match="out of the folder") as error:
        read_card(folder)
    assert SECRET not in str(error.value)


@NOT_ON_WINDOWS
def test_a_file_that_becomes_a_link_between_check_and_opening_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchanged_first(opened: Callable[..., int]) -> Callable[..., int]:
        def open_later(path: object, *rest: int, **options: int) -> int:
            link_out(folder)
            return opened(path, *rest, **options)

        return open_later

    monkeypatch.setattr(os, "open", exchanged_first(os.open))
    monkeypatch.setattr(os, "supports_dir_fd", {os.open, *os.supports_dir_fd})
    with pytest.raises(OSError, match="symbolic links"):
        open_file(folder, "README.md", 100)


def test_a_link_made_between_check_and_opening_is_noticed_where_links_are_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, which opens neither relative to a folder nor without following links."""
    opened: list[int] = []

    def open_later(path: Path, flags: int) -> int:
        link_out(folder)
        opened.append(opened_before(path, flags & ~getattr(os, "O_NOFOLLOW", 0)))

        return opened[0]

    opened_before = os.open
    monkeypatch.setattr(os, "open", open_later)
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(CheckpointError, match=r"has just changed|out of the folder"):
        open_file(folder, "README.md", 6)
    with pytest.raises(OSError, match="file descriptor"):
        os.fstat(opened[0])


@NOT_ON_WINDOWS
def test_a_folder_above_that_is_exchanged_meanwhile_is_noticed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "README.md").write_text(SECRET, encoding="utf-8")
    opened = os.open

    def open_later(path: object, *rest: int, **options: int) -> int:
        if Path(str(path)) == folder:
            folder.rename(tmp_path / "aside")
            (tmp_path / "other").rename(folder)
            handle = opened(folder, *rest, **options)
            folder.rename(tmp_path / "other")
            (tmp_path / "aside").rename(folder)
            return handle
        return opened(path, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", open_later)
    monkeypatch.setattr(os, "supports_dir_fd", {open_later, *os.supports_dir_fd})
    with pytest.raises(CheckpointError, match="has just changed"):
        open_file(folder, "README.md", 100)


@NOT_ON_WINDOWS
def test_a_named_pipe_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(CheckpointError, match="not a regular file"):
        open_file(folder, "pipe", 100)


@NOT_ON_WINDOWS
def test_a_name_that_is_not_utf_8_is_said_in_text_that_can_be_shown(folder: Path) -> None:
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.json"))).touch()
    with pytest.raises(CheckpointError, match="not a UTF-8 name") as error:
        entries(folder)
    assert str(error.value).encode("utf-8")
