"""Pack numbers with as many decimals as are read, in 16 bits each and compressed: at most half of what float32 takes.

A number x ≥ 0 travels as round(x · 10^d) + 1, so the decimals that a person reads are exact. 0 stands for zero, and 1
for a number above zero, however small, that no decimal shows.
"""

import math
from typing import Final

import numpy as np
from jaxtyping import Float, UInt16

from viz.pictures import payload

MOST_DECIMALS: Final = 4
_LARGEST: Final = 65_534


def decimals_for(top: float) -> int:
    """How many decimals there is room for, `top` being the largest number; at most four."""
    return max(0, min(MOST_DECIMALS, math.floor(math.log10(_LARGEST / max(top, 1e-9)))))


def codes(values: Float[np.ndarray, "..."], decimals: int) -> UInt16[np.ndarray, "..."]:
    """The code of every number. Rounding errors below zero are cut off, and so is what is too large for 16 bits."""
    shown = np.rint(np.clip(values, 0.0, _LARGEST / 10**decimals) * 10**decimals).astype(np.uint16)
    coded: np.ndarray[tuple[int, ...], np.dtype[np.uint16]] = np.where(shown > 0, shown + 1, values > 0).astype(
        np.uint16
    )
    return coded


def pack_decimals(values: Float[np.ndarray, "..."], decimals: int) -> bytes:
    """Codes as two planes of bytes, low before high, compressed; `decimals.js` reads them."""
    coded = codes(values, decimals).ravel()
    return payload.deflate(np.stack([coded & 255, coded >> 8]).astype(np.uint8))
