"""What an atlas reads and where it is kept."""

import os
from pathlib import Path

import pytest

from model.errors import DataError
from tests.viz.pages.atlas.opening import GOLD
from viz.access import models
from viz.pages.atlas import data
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress


def test_a_relative_cache_directory_is_ignored_as_xdg_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    assert data.cache_folder() == Path.home() / ".cache" / "headlight" / "atlases"
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.abspath("/x"))
    assert data.cache_folder() == Path("/x/headlight/atlases")


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_SENTENCES", 3)
    assert len(data.read_sentences(b"a\nb\nc\n", "t")[0]) == 3
    with pytest.raises(DataError, match="more than 3 rows"):
        data.read_sentences(b"a\nb\nc\nd\n", "t")


def test_progress_counts_every_sentence_and_pair(checkpoints: Path) -> None:
    pairs, _ = data.read_pairs(GOLD, "g")
    reading = data.reading(None, pairs)
    counted: list[int] = []

    class Counting(Progress):
        def __call__(self, count: int) -> None:
            counted.append(count)

    task = data.measuring(reading, models.translator(Selection().changed(checkpoint="en-de").model))
    task.compute(Counting(task.total, task.unit))
    assert sum(counted) == task.total == reading.work == 8
    # The pronoun sentences are read besides, and not counted.
    assert [count for count in counted if count] == [1] * 8
