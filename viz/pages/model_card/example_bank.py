"""Draw English sentences of many kinds by a seed.

All were written for this file, `example_sentences.txt`, and none was tried on a model first: what a draw shows is what
people may expect.
"""

from pathlib import Path
from random import Random
from typing import Final

NUM_DRAWN: Final = 20
_LINES: Final = Path(__file__).with_name("example_sentences.txt").read_text(encoding="utf-8").splitlines()
BANK: Final = tuple(line for line in _LINES if not line.startswith("#"))


def draw(seed: int) -> list[str]:
    """Twenty sentences of the bank: the same for the same seed, everywhere."""
    return Random(seed).sample(BANK, NUM_DRAWN)
