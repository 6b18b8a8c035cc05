"""The film beside a model is a file of its folder like any other: no links out of it, and a limit on its size."""

import tracemalloc
from pathlib import Path

import pytest

from model.errors import DataError
from tests.viz.pages.paper.through_training.invented import saved
from viz.pages.paper.through_training import data


def test_a_film_as_large_as_allowed_is_read_and_a_larger_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(saved(tmp_path / "film.npz"))
    # What a file may unpack to has a bound of its own.
    monkeypatch.setattr(data, "LARGEST", 1 << 20)
    assert len(data.at(tmp_path / "film.npz").film.steps) == 6
    with (tmp_path / "film.npz").open("ab") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(DataError, match=r"film\.npz has more than 1,048,576 bytes"):
        data.at(tmp_path / "film.npz")
    assert size < 1 << 20


def test_a_huge_film_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "film.npz").open("wb") as file:
        file.truncate(1_500 << 20)
    tracemalloc.start()
    with pytest.raises(DataError, match="is refused"):
        data.at(tmp_path / "film.npz")
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_film_that_is_a_link_out_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    saved(tmp_path / "elsewhere.npz")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "film.npz").symlink_to("../elsewhere.npz")
    with pytest.raises(DataError, match=r"model/film\.npz is a link to a place outside the folder"):
        data.at(folder / "film.npz")
    with pytest.raises(DataError, match="There is no file"):
        data.at(folder / "none.npz")
