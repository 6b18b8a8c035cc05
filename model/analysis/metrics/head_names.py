"""Name the heads of a whole model, rank them, and correlate rankings.

Tables of heads are arrays [site, layer, head]; sites come in the order of `model.nn.transformer.SITES`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from model.errors import EditError
from model.nn.encoder_decoder import SITES


class LayerHead(NamedTuple):
    """One head of a site; layer and head from 0."""

    layer: int
    head: int


class HeadName(NamedTuple):
    """One head of the model; layer and head from 0."""

    site: str
    layer: int
    head: int


class RankedHead(NamedTuple):
    """A head and its metric."""

    name: HeadName
    value: float


Heads = Mapping[str, Sequence[int]]
"""Site → the number of heads of each of its layers, as `Abilities` has it; stacks may differ."""


def all_heads(heads: Heads) -> tuple[HeadName, ...]:
    """Every head, in the order of a table [site, layer, head] where all layers have as many."""
    return tuple(
        HeadName(site, layer, head)
        for site in SITES
        for layer, count in enumerate(heads.get(site, ()))
        for head in range(count)
    )


def check_heads(heads: Heads, chosen: Collection[HeadName]) -> None:
    """Make sure that these are heads of the model. Raises an EditError if a head does not exist."""
    known = all_heads(heads)
    if unknown := set(chosen).difference(known):
        site, layer, head = min(unknown)
        layers = heads.get(site, ())
        named: dict[str, object] = {"head": head, "layer": layer, "site": site}
        if not layers:
            message = "There is no head {head} in layer {layer} of {site!r}; sites are {sites}."
            raise EditError(message, sites=", ".join(heads), **named)
        message = (
            "There is no head {head} in layer {layer} of {site!r}; layers run from 0 to {last_layer}, heads from 0 to "
            "{last_head}."
        )
        raise EditError(message, last_layer=len(layers) - 1, last_head=max(layers) - 1, **named)


def ranked(values: Float[npt.NDArray[np.floating], "site layer head"]) -> list[RankedHead]:
    """All heads that have a value, the largest first; equal ones in the order of the table."""
    numbers = np.asarray(values, dtype=np.float64)
    flat = numbers.ravel()
    order = [int(i) for i in np.argsort(-flat, kind="stable") if not np.isnan(flat[i])]
    indices = (np.unravel_index(i, numbers.shape) for i in order)
    named = (HeadName(SITES[int(site)], int(layer), int(head)) for site, layer, head in indices)
    return [RankedHead(name, float(flat[i])) for name, i in zip(named, order, strict=True)]


def rank_correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Spearman's ρ: Pearson's correlation of the ranks, equal values sharing their mean rank; NaN values are left out.

    −1 to 1; NaN where fewer than two heads are left or all of one side are equal.
    """
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    known = ~(np.isnan(a) | np.isnan(b))
    x, y = (_ranks(values[known]) for values in (a, b))
    x, y = x - x.mean() if x.size else x, y - y.mean() if y.size else y
    scale = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float((x * y).sum() / scale) if scale > 0 else float("nan")


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # As of scipy.stats, whose import alone takes a second or two.
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[group]
