"""Keep the few largest of many values that arrive one by one, for several rows at once."""

from typing import Final

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

NONE: Final = -1
#: Values that are held beside the largest ones before they are sorted in.
HELD: Final = 64


class Strongest:
    """For each of `rows`, the numbers of the `count` largest values; of equal ones, the smaller number first."""

    def __init__(self, rows: int, count: int) -> None:
        self._count = count
        self._values = np.full((rows, count), -np.inf)
        self._numbers = np.full((rows, count), NONE, dtype=np.int32)
        self._held: list[tuple[int, npt.NDArray[np.float64]]] = []

    def add(self, number: int, values: Float[npt.NDArray[np.float64], " some_row"], rows: slice = slice(None)) -> None:
        """One value for each of some rows, by default of all, under a number of its own in each."""
        held = np.full(len(self._values), -np.inf)
        held[rows] = values
        self._held.append((number, held))
        if len(self._held) == HELD:
            self._sort_in()

    def numbers(self) -> Int[npt.NDArray[np.int32], "row rank"]:
        """The numbers, largest value first; −1 where there were fewer values."""
        self._sort_in()
        return self._numbers.copy()

    def _sort_in(self) -> None:
        if not self._held:
            return
        numbers, values = zip(*self._held, strict=True)
        held = np.broadcast_to(np.array(numbers, dtype=np.int32), (len(self._values), len(numbers)))
        all_values = np.concatenate((self._values, np.stack(values, axis=1)), axis=1)
        all_numbers = np.concatenate((self._numbers, held), axis=1)
        order = np.lexsort((all_numbers, -all_values))[:, : self._count]
        self._values = np.take_along_axis(all_values, order, axis=1)
        self._numbers = np.take_along_axis(all_numbers, order, axis=1)
        self._held = []
