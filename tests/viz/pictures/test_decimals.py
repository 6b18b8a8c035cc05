"""Numbers as so many decimals."""

import numpy as np
import pytest

from tests.viz.pictures.tiles.decoded import numbers_of
from viz.pictures.tiles.codes import codes, decimals_for, pack_decimals


def test_four_decimals_are_exact_and_a_tiny_number_is_told_from_zero() -> None:
    values = np.concatenate([np.linspace(0, 1, 70_001), [0.0, 1e-12, 4e-5, -1e-8]]).astype(np.float32)
    found = numbers_of(pack_decimals(values, 4), 4)
    shown = values >= 5e-5
    np.testing.assert_allclose(found[shown], np.rint(values[shown].astype(np.float64) * 1e4) / 1e4, atol=1.1e-4 * 1e-3)
    assert found[-4:].tolist() == [0, 2.5e-5, 2.5e-5, 0]


@pytest.mark.parametrize(("top", "decimals"), [(1.0, 4), (6.5, 4), (6.6, 3), (70.0, 2), (1e7, 0), (0.0, 4)])
def test_large_numbers_have_fewer_decimals_and_still_fit(top: float, decimals: int) -> None:
    assert decimals_for(top) == decimals
    assert int(codes(np.array([top]), decimals)[0]) <= 65_535
