"""Invented steps and attention of a short decoding."""

import json
import struct
from typing import Any

import numpy as np

from viz.pages.decoding.film.component import PlayerCandidate, PlayerSpread, PlayerStep

CANDIDATES = tuple(PlayerCandidate(100 + i, f"c{i}", -0.5 * (i + 1)) for i in range(20))
STEPS = (
    PlayerStep(101, "c1", -1.0, 0.7, 2, CANDIDATES),
    PlayerStep(115, "c15", -8.0, 1.3, 16, CANDIDATES),
    PlayerStep(999, "\u202e", -20.0, 2.0, 444, CANDIDATES),
)
SPREAD = PlayerSpread(
    best=np.array([[-0.1, -2.5]] * 3),
    counts=np.array([[3, 0, 7]] * 3),
    centres=np.array([[-3, 0, -9.5]] * 3),
    vocab_size=500,
)


def header_of(payload: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<I", payload[:4])
    return json.loads(payload[4 : 4 + length])
