"""What an invented decoding sends to the browser."""

import numpy as np
import pytest

from tests.viz.pages.decoding.film.invented import SPREAD, STEPS
from viz.pages.decoding.film.component import PlayerData

CROSS = np.full((2, 3, 3, 2), 0.25, np.float32)
SELF = np.tril(np.full((2, 3, 3, 3), 0.5, np.float32))


@pytest.fixture
def data() -> PlayerData:
    return PlayerData.of(("▁it", "</s>"), ("<s>", "▁er", "▁es"), STEPS, CROSS, SELF, SPREAD)
