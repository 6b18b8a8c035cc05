"""What positions do to queries and keys after their projection: nothing, or a rotation of pairs of numbers.

Su et al. 2021 (RoFormer, arXiv 2104.09864, §3.2): at each position a pair of a head's dimensions is turned by an angle.
Which dimensions are a pair, and which are left as they are, differs between models; it is seen in what a run used.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.errors import TraceError, said

#: How far what is turned may be from what the model used, as a share of its largest number: rounding of float32.
TOLERANCE = 1e-4
NOT_TURNED = said(
    "What this model does to its queries and keys after their projection is neither nothing nor a rotation, so its "
    "scores cannot be split: it may norm them."
)


@dataclass(frozen=True, eq=False)
class Turned:
    """x ↦ x, or each pair of dimensions turned by the angle of its position."""

    pairs: Int[Tensor, "2 pair"] | None = None  #: None where nothing is turned
    factors: Float[Tensor, "row pair 2"] | None = None  #: cosine and sine of each

    def back(self, c: Float[Tensor, "row width"], rows: list[int]) -> Float[Tensor, "row width"]:
        """What c · turned(x) asks of x at these rows: c, turned the other way."""
        if self.pairs is None or self.factors is None:
            return c
        (one, other), (cosine, sine) = self.pairs, self.factors[rows].unbind(-1)
        turned_back = c.clone()
        turned_back[:, one] = c[:, one] * cosine + c[:, other] * sine
        turned_back[:, other] = c[:, other] * cosine - c[:, one] * sine
        return turned_back


def turned(projected: Float[Tensor, "head row width"], used: Float[Tensor, "head row width"]) -> Turned:
    """How what a model used came of its projections. Raises a TraceError if it was neither left nor turned."""
    close = TOLERANCE * float(used.abs().max().clamp_min(1e-12))
    if float((projected - used).abs().max()) <= close:
        return Turned()
    for pairs in _pairs(used.size(-1)):
        one, other = (projected[..., side] for side in pairs)
        to_one, to_other = (used[..., side] for side in pairs)
        length = (one.square() + other.square()).sum(0).clamp_min(1e-30)
        factors = torch.stack(
            ((one * to_one + other * to_other).sum(0) / length, (one * to_other - other * to_one).sum(0) / length), -1
        )
        cosine, sine = factors.unbind(-1)
        again = projected.clone()
        again[..., pairs[0]] = one * cosine - other * sine
        again[..., pairs[1]] = one * sine + other * cosine
        if float((again - used).abs().max()) <= close:
            return Turned(pairs, factors)
    raise TraceError(NOT_TURNED)


def _pairs(width: int) -> Iterator[Int[Tensor, "2 pair"]]:
    """Which dimensions are turned together: the halves of the first so many, or neighbours."""
    for size in range(width - width % 2, 0, -2):
        yield torch.arange(size).view(2, -1)
    yield torch.arange(width - width % 2).view(-1, 2).T
