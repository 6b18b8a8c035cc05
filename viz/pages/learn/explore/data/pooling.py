"""Pooling with a kernel: what one width makes of forty points, and the error of each width."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.analysis import pooling
from viz.server.caches import cached

if TYPE_CHECKING:
    from torch import Tensor

#: Widths that can be chosen, in hundredths, and where queries can lie.
NARROWEST, WIDEST = 2, 200
LAST_QUERY: Final = 500
#: Widths, in hundredths, at which the error of left-out points is computed.
TRIED: Final = tuple(sorted({round(NARROWEST * (WIDEST / NARROWEST) ** (step / 40)) for step in range(41)}))


@dataclass(frozen=True, eq=False, slots=True)
class Regression:
    """What one width makes of the points; all arrays are read-only."""

    #: keys, values: the points.
    keys: Float[np.ndarray, "key"]
    values: Float[np.ndarray, "key"]
    queries: Float[np.ndarray, "query"]  #: where the curve is computed
    #: true, predicted: the curve that the values come from, and what pooling predicts.
    true: Float[np.ndarray, "query"]
    predicted: Float[np.ndarray, "query"]
    weights: Float[np.ndarray, "query key"]  #: of each query over the keys
    row: Float[np.ndarray, "key"]  #: the weights of the chosen query
    answer: float  #: what it predicts
    keys_used: float  #: 2 to the mean entropy of the queries in bits: over how many keys they average, as it were


@cached(max_entries=200)
def regression(width: int, query: int) -> Regression:
    """Pool with a kernel of this width and look at this query, both in hundredths."""
    found = pooling.regression(width / 100, query / 100)
    points = found.points
    return Regression(
        keys=_kept(points.keys),
        values=_kept(points.values),
        queries=_kept(found.queries),
        true=_kept(found.true),
        predicted=_kept(found.predicted),
        weights=_kept(found.weights),
        row=_kept(found.row),
        answer=float(found.row @ points.values),
        keys_used=found.keys_used,
    )


def _kept(values: "Tensor") -> np.ndarray:
    array: np.ndarray = values.numpy()
    array.setflags(write=False)
    return array


@cached(max_entries=1)
def errors() -> tuple[float, ...]:
    """The error of left-out points at each width of `TRIED`."""
    points = pooling.sample_points()
    return tuple(pooling.left_out_error(points, width / 100) for width in TRIED)


def best_width() -> int:
    """The width that predicts left-out points best, in hundredths."""
    best: int = TRIED[int(np.argmin(errors()))]
    return best
