"""Measure how alike heads are, and how certain a mean over sentences is."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float
from torch import Tensor

Numbers = npt.NDArray[np.floating]

#: Weights of pairs of heads that are compared at once: 16 MB in float64.
WEIGHTS_AT_ONCE: Final = 2_000_000


def divergence_sums(
    weights: Float[Tensor, "head query key"], rows: Bool[Tensor, "query"]
) -> Float[Tensor, "head head"]:
    """Σ over rows i of JS(α_i, β_i) = H((α_i + β_i)/2) − (H(α_i) + H(β_i))/2 for each pair of heads, in bits.

    Clark et al. 2019 ("What Does BERT Look At?", §6) add these up over all tokens of a corpus. Each is 0 for equal
    rows, and 1 for rows that look at different keys. In float64: of heads that are alike, entropies hardly differ.
    `weights` are of heads that look from the same queries at the same keys, rows summing to 1.
    """
    used = weights[:, rows].double()
    first, second = torch.triu_indices(len(weights), len(weights), offset=1)
    sums = torch.zeros(len(weights), len(weights), dtype=torch.float64)
    if not used.numel():
        return sums
    own = torch.special.entr(used).sum((1, 2))
    size = max(1, WEIGHTS_AT_ONCE // used[0].numel())
    for a, b in zip(first.split(size), second.split(size), strict=True):
        middle = torch.special.entr((used[a] + used[b]) / 2).sum((1, 2))
        sums[a, b] = ((middle - (own[a] + own[b]) / 2) / math.log(2)).clamp_min(0.0)
    return sums + sums.T


#: Standard errors on either side of a mean that hold 95 % of a normal distribution.
_REACH: Final = 1.96


class RatioInterval:
    """The 95 % interval of Σ s ÷ Σ n, where sentence k adds s_k from n_k rows.

    Rows of a sentence are not independent, so sentences are the sample, and the mean is a ratio of two sums: its
    variance is Σ (s_k − m n_k)² ÷ (Σ n_k)² · K ÷ (K − 1) (Cochran 1977, "Sampling Techniques", §6.4). The squares are
    summed apart, so that a corpus of any length takes three numbers a head.
    """

    def __init__(self, moments: Float[Tensor, "moment head"]) -> None:
        """`moments`: the six sums, of `add`; those of two parts of a corpus may be added."""
        self.moments = moments
        self.sums, self._squares, self._products, self._rows, self._square_rows, self._sentences = moments

    @classmethod
    def empty(cls, heads: int) -> "RatioInterval":
        """Of no sentence yet."""
        return cls(torch.zeros(6, heads, dtype=torch.float64))

    def add(self, total: Float[Tensor, "some_head"], rows: int, heads: slice = slice(None)) -> None:
        """Take in one sentence: the sum over its rows, how many there are, and which heads these are; by default all.

        Heads of a layer with a window have fewer rows that count than others.
        """
        total = total.double()  # the sums of squares nearly cancel
        counts = (torch.full_like(total, number) for number in (rows, rows**2, 1))
        self.moments[:, heads] += torch.stack((total, total**2, total * rows, *counts))

    @property
    def rows(self) -> int:
        """Over how many rows the mean is taken, of the heads that have most."""
        return int(self._rows.max()) if len(self._rows) else 0

    def mean(self) -> Float[Tensor, "head"]:
        """The mean over all rows; NaN without any."""
        means: Tensor = self.sums / self._rows
        return means

    def ends(self) -> Float[Tensor, "head end"]:
        """The lower and the upper end; NaN for fewer than two sentences."""
        mean, count = self.mean(), self._sentences
        deviations = self._squares - 2 * mean * self._products + mean**2 * self._square_rows
        error = (deviations.clamp_min(0) * count / (count - 1)).sqrt() / self._rows
        ends = torch.stack([mean - _REACH * error, mean + _REACH * error], -1)
        return ends.masked_fill(count[:, None] < 2, torch.nan)
