"""Bound the mean over all rows of a corpus, sentence by sentence, without keeping the sentences."""

from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

#: Standard errors on either side of a mean that hold 95 % of a normal distribution.
_REACH: Final = 1.96


class RatioInterval:
    """The 95 % interval of Σ s ÷ Σ n, where sentence k adds s_k from n_k rows.

    Rows of a sentence are not independent, so sentences are the sample, and the mean is a ratio of two sums: its
    variance is Σ (s_k − m n_k)² ÷ (Σ n_k)² · K ÷ (K − 1) (Cochran 1977, "Sampling Techniques", §6.4). The squares are
    summed apart, so that a corpus of any length takes three numbers a head.
    """

    def __init__(self, heads: int) -> None:
        self.sums = torch.zeros(heads, dtype=torch.float64)
        self._squares, self._products = torch.zeros_like(self.sums), torch.zeros_like(self.sums)
        self._rows, self._square_rows = torch.zeros_like(self.sums), torch.zeros_like(self.sums)
        self._sentences = torch.zeros_like(self.sums)

    def add(self, total: Float[Tensor, "some_head"], rows: int, heads: slice = slice(None)) -> None:
        """Take in one sentence: the sum over its rows, how many there are, and which heads these are; by default all.

        Heads of a layer with a window have fewer rows that count than others.
        """
        total = total.double()  # the sums of squares nearly cancel
        self.sums[heads] += total
        self._squares[heads] += total**2
        self._products[heads] += total * rows
        self._rows[heads] += rows
        self._square_rows[heads] += rows**2
        self._sentences[heads] += 1

    @property
    def rows(self) -> int:
        """Over how many rows the mean is taken, of the heads that have most."""
        return int(self._rows.max()) if len(self._rows) else 0

    def mean(self) -> Float[Tensor, "head"]:
        """The mean over all rows; NaN without any."""
        return self.sums / self._rows

    def ends(self) -> Float[Tensor, "head end"]:
        """The lower and the upper end; NaN for fewer than two sentences."""
        mean, count = self.mean(), self._sentences
        deviations = self._squares - 2 * mean * self._products + mean**2 * self._square_rows
        error = (deviations.clamp_min(0) * count / (count - 1)).sqrt() / self._rows
        ends = torch.stack([mean - _REACH * error, mean + _REACH * error], -1)
        return ends.masked_fill(count[:, None] < 2, torch.nan)
