"""Two measures of heads compared."""

import numpy as np

from viz.pages.coreference.cause import effects


def test_rankings_that_agree_correlate_and_sites_are_told_apart() -> None:
    first = np.arange(24, dtype=float).reshape(3, 2, 4)
    second = first.copy()
    second[1] = -first[1]
    _, rows = effects.correlations(first, second, None)
    assert rows[0][2:] == ("+1.00", "−1.00", "+1.00")
    attention = np.full_like(first, np.nan)
    attention[0] = first[0]
    _, rows = effects.correlations(first, second, attention)
    assert rows[1][1:] == ("+1.00", "+1.00", "–", "–")
