"""Folders of Marian models, written once and read by both."""

import pytest

from tests.model.marian.marian_folders import write_marian
from tests.model.marian.pairs import VARIANTS, Pair


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    root = tmp_path_factory.mktemp("marian")
    return {name: Pair(root / name, write_marian(root / name, **settings)) for name, settings in VARIANTS.items()}
