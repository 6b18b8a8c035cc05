"""Describe a matrix too large to be sent whole, from which exact tiles are cut."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

#: Rows, columns, block → the largest number of every block × block cells.
Pooled = Callable[[slice, slice, tuple[int, int]], Float[np.ndarray, "row column"]]


@dataclass(frozen=True, eq=False)
class Source:
    """What tiles are cut from.

    Attributes:
        address: names this very matrix.
        shape: its rows and columns.
        decimals: as many as are sent.
        pooled: gives the numbers.
    """

    address: str
    shape: tuple[int, int]
    decimals: int
    pooled: Pooled
