"""What is done to queries and keys after their projection: a norm in some models, and a rotation of pairs of numbers.

Su et al. 2021 (RoFormer, arXiv 2104.09864, §3.2): at each position a pair of a head's dimensions is turned by an angle.
Which dimensions are a pair, and which are left as they are, differs between models; it is seen in what a run used.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.errors import TraceError, said
from model.parts.weights import Norm

#: How far what is turned may be from what the model used, as a share of its largest number: rounding of float32.
TOLERANCE = 1e-4
NOT_TURNED = said(
    "What this model does to its queries and keys after their projection is neither a norm nor a known rotation, so "
    "its scores cannot be split."
)


@dataclass(frozen=True, eq=False)
class Turned:
    """x ↦ x, or each pair of dimensions turned by the angle of its position; before that a norm, its divisor held."""

    pairs: Int[Tensor, "2 pair"] | None = None  #: None where nothing is turned
    factors: Float[Tensor, "row pair 2"] | None = None  #: cosine and sine of each, times a number
    norm: Norm | None = None
    projected: Float[Tensor, "head row width"] | None = None  #: what is normed

    def __call__(self, projected: Float[Tensor, "head row width"]) -> Float[Tensor, "head row width"]:
        """What would be used of other projections at the same rows, with a norm of their own."""
        used = _normed(projected, self.norm)
        return used if self.pairs is None or self.factors is None else _rotated(used, self.pairs, self.factors)

    def back(self, c: Float[Tensor, "row width"], head: int) -> tuple[Float[Tensor, "row width"], float]:
        """What c · used(x) asks of a head's projections x, and what the bias of the norm gives."""
        if self.pairs is not None and self.factors is not None:
            (one, other), (cosine, sine), turned_back = self.pairs, self.factors.unbind(-1), c.clone()
            turned_back[:, one] = c[:, one] * cosine + c[:, other] * sine
            turned_back[:, other] = c[:, other] * cosine - c[:, one] * sine
            c = turned_back
        if self.norm is None or self.projected is None:
            return c, 0.0
        heads, rows, width = self.projected.shape
        whole, own = self.projected.transpose(0, 1), torch.zeros(rows, heads, width)
        own[:, head] = c
        if self.norm.gain.numel() == width:
            bias = 0.0 if self.norm.bias is None else float((c @ self.norm.bias).sum())
            return self.norm.back(own, whole)[:, head], bias
        bias = 0.0 if self.norm.bias is None else float((own.flatten(1) @ self.norm.bias).sum())
        return self.norm.back(own.flatten(1), whole.flatten(1)).view_as(own)[:, head], bias


def turned(
    projected: Float[Tensor, "head row width"], used: Float[Tensor, "head row width"], norm: Norm | None = None
) -> Turned:
    """How what a model used came of its projections. Raises a TraceError if that is not a norm, a rotation or nothing.

    A norm over all heads at once may take no mean off: then a head's part would be in the others too.
    """
    if norm is None:
        return _turned(projected, used)
    if norm.is_centred and norm.gain.numel() != projected.size(-1):
        raise TraceError(NOT_TURNED)
    return replace(_turned(_normed(projected, norm), used), norm=norm, projected=projected)


def _normed(projected: Float[Tensor, "head row width"], norm: Norm | None) -> Float[Tensor, "head row width"]:
    if norm is None:
        return projected
    by_row = projected.transpose(0, 1)
    normed = norm(by_row) if norm.gain.numel() == projected.size(-1) else norm(by_row.flatten(1)).view_as(by_row)
    return normed.transpose(0, 1)


def _rotated(
    x: Float[Tensor, "head row width"], pairs: Int[Tensor, "2 pair"], factors: Float[Tensor, "row pair 2"]
) -> Float[Tensor, "head row width"]:
    (cosine, sine), (one, other), rotated = factors.unbind(-1), (x[..., side] for side in pairs), x.clone()
    rotated[..., pairs[0]] = one * cosine - other * sine
    rotated[..., pairs[1]] = one * sine + other * cosine
    return rotated


def _turned(projected: Float[Tensor, "head row width"], used: Float[Tensor, "head row width"]) -> Turned:
    close = TOLERANCE * float(used.abs().max().clamp_min(1e-12))
    if float((projected - used).abs().max()) <= close:
        return Turned()
    for pairs in _pairs(used.size(-1)):
        one, other = (projected[..., side] for side in pairs)
        to_one, to_other = (used[..., side] for side in pairs)
        both = torch.stack(((one * to_one + other * to_other).sum(0), (one * to_other - other * to_one).sum(0)), -1)
        # A few rows of one head would fit any pairs, if each could be stretched too: some models stretch all alike.
        stretched = (to_one.square() + to_other.square()).sum() / (one.square() + other.square()).sum().clamp_min(1e-30)
        factors = both / both.norm(dim=-1, keepdim=True).clamp_min(1e-30) * stretched.sqrt()
        if float((_rotated(projected, pairs, factors) - used).abs().max()) <= close:
            return Turned(pairs, factors)
    raise TraceError(NOT_TURNED)


def _pairs(width: int) -> Iterator[Int[Tensor, "2 pair"]]:
    """Which dimensions are turned together: the halves of the first so many, or neighbours."""
    for size in range(width - width % 2, 0, -2):
        yield torch.arange(size).view(2, -1)
    yield torch.arange(width - width % 2).view(-1, 2).T
