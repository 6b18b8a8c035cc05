"""Folders of models, changed."""

from pathlib import Path

import pytest

from model.errors import CheckpointError
from model.opening import open_reader


def refused(folder: Path, words: str) -> None:
    with pytest.raises(CheckpointError, match=words) as error:
        open_reader(folder)
    assert len(str(error.value)) < 1200
    assert "\n" not in str(error.value)
