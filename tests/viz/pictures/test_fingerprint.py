"""Fingerprints of contents."""

import numpy as np

from viz.pictures.payload import fingerprint as digest


def test_a_digest_tells_other_contents_and_other_boundaries_apart() -> None:
    a, b = np.arange(4, dtype=np.uint16), np.arange(1, 5, dtype=np.uint16)
    assert digest("ab", a) == digest("ab", a.copy())
    assert len({digest("ab", a), digest("ab", b), digest("a", "b", a), digest("b", "a", a)}) == 4
