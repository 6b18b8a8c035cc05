"""The strongest sentences of a head."""

import numpy as np

from model.analysis.atlas.measure import Strongest


def test_strongest_are_those_of_sorting_everything() -> None:
    values = np.random.default_rng(1).integers(0, 40, size=(3, 150)).astype(float)
    strongest = Strongest(3, 4)
    for number in np.random.default_rng(2).permutation(150):
        strongest.add(int(number), values[:, number])
    expected = [sorted(range(150), key=lambda n: (-row[n], n))[:4] for row in values]
    assert strongest.numbers().tolist() == expected
    few = Strongest(1, 3)
    few.add(7, np.array([0.5]))
    assert few.numbers().tolist() == [[7, -1, -1]]
