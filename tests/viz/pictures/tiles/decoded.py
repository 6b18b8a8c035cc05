"""Numbers as the browser reads them."""

import zlib

import numpy as np


def numbers_of(deflated: bytes, decimals: int) -> np.ndarray:
    """What payload.js reads."""
    planes = np.frombuffer(zlib.decompress(deflated), np.uint8).reshape(2, -1).astype(int)
    coded = planes[0] + 256 * planes[1]
    return np.where(coded > 1, (coded - 1) / 10**decimals, coded * 0.25 / 10**decimals)
