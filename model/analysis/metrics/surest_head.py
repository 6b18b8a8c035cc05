"""Find the head of a text that does one simple thing most surely: look at the token before, itself, the first, …"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

#: What says something of how a head reads; a mean weight, so at most 1.
JOBS: Final = ("previous", "same", "next")
#: Where heads rest that have nothing to do (Clark et al. 2019, §3.2): named only if no head has a surer job.
RESTS: Final = ("first", "last", "punctuation")
SURE: Final = 0.5


@dataclass(frozen=True)
class SurestHead:
    """A head, and the metric (`model.analysis.metrics.head_metrics`) in which no head is surer."""

    site: str
    layer: int
    head: int
    metric: str
    value: float


def surest_head(metrics: Mapping[str, Mapping[str, Float[np.ndarray, "layer head"]]]) -> SurestHead | None:
    """The head with the highest of `JOBS`; of `RESTS` if it is below `SURE`; of equal ones the first. None without any.

    Args:
        metrics: site → metric → its values, NaN where a head has none.
    """
    best = _highest(metrics, JOBS)
    if best is None or best.value < SURE:
        best = _highest(metrics, (*JOBS, *RESTS))
    return best


def _highest(
    metrics: Mapping[str, Mapping[str, Float[np.ndarray, "layer head"]]], names: tuple[str, ...]
) -> SurestHead | None:
    best = None
    for site, tables in metrics.items():
        for name in names:
            values = np.nan_to_num(tables[name], nan=-1.0)
            layer, head = map(int, np.unravel_index(values.argmax(), values.shape))
            value = float(values[layer, head])
            if value >= 0 and (best is None or value > best.value):
                best = SurestHead(site, layer, head, name, value)
    return best
