"""Two measures of heads compared."""

import numpy as np

from model.analysis.metrics.head_names import HeadName
from viz.pages.coreference.cause import effects
from viz.text.sites import SITES

HEADS = [HeadName(site, layer, head) for site in SITES for layer in range(2) for head in range(4)]


def test_rankings_that_agree_correlate_and_sites_are_told_apart() -> None:
    first = np.arange(24, dtype=float).reshape(3, 8)
    second = first.copy()
    second[1] = -first[1]
    _, rows = effects.correlations(first.ravel(), second.ravel(), None, HEADS)
    assert rows[0][2:] == ("+1.00", "−1.00", "+1.00")
    attention = np.full_like(first, np.nan)
    attention[0] = first[0]
    _, rows = effects.correlations(first.ravel(), second.ravel(), attention.ravel(), HEADS)
    assert rows[1][1:] == ("+1.00", "+1.00", "–", "–")
