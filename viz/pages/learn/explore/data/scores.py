"""What becomes of a softmax by the score function: of random vectors, and of the heads of a trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from model import Trace
from model.analysis import scoring
from model.analysis.scoring import MOST_ROWS, head_saturation, random_saturation, with_scale
from viz.server.caches import cached

#: The functions, in the order in which pictures have them: those of `model.analysis.scoring`.
NAMES: Final = ("dot", "scaled", "additive", "general")
#: The widths at which random vectors are compared.
WIDTHS: Final = tuple(2**power for power in range(1, 11))


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The first, second and third quartile of the rows of a sample."""

    low: float
    median: float
    high: float


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """A score function on random vectors of one width."""

    name: str
    width: int
    #: variance, expected: of the scores, measured and by the formula.
    variance: float
    expected: float
    spread: Quartiles  #: the standard deviation of a row's scores
    entropy: Quartiles  #: in bits
    gradient: Quartiles  #: the norm of the softmax's Jacobian
    example: Float[np.ndarray, "key"]  #: the weights of the query in the middle, largest first; read-only


@dataclass(frozen=True, eq=False, slots=True)
class Heads:
    """All heads of a trace, scored in one way."""

    places: tuple[tuple[str, int, int], ...]  #: site, layer and head of each, from 0
    widths: tuple[int, ...]  #: d_k of each
    #: spread, evenness, gradient: medians over a head's rows; evenness is entropy as a share of the most there can be.
    spread: Float[np.ndarray, "head"]
    evenness: Float[np.ndarray, "head"]
    gradient: Float[np.ndarray, "head"]


#: Counts the operations for scores of so many queries and keys.
operations: Final = scoring.operations


@cached(max_entries=len(NAMES) * len(WIDTHS))
def sample(name: str, width: int) -> Sample:
    """A score function on random vectors of this width, computed once for all viewers."""
    found = random_saturation(name, width)
    spread, entropy, gradient = (
        Quartiles(*np.quantile(values.numpy(), (0.25, 0.5, 0.75)).tolist())
        for values in (found.rows.spread, found.rows.entropy, found.rows.gradient)
    )
    example = found.example.numpy()
    example.setflags(write=False)
    return Sample(name, width, found.variance, found.expected_variance, spread, entropy, gradient, example)


@cached(max_entries=64)
def heads(trace: Trace) -> Mapping[str, Heads]:
    """ "dot" and "scaled" → every head of a trace that has a row with two keys to choose from, scored so."""
    places, widths = [], []
    found: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {"dot": [], "scaled": []}
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            inputs = trace.attention(site, layer)
            if inputs.mask.rows()[0].sum(-1).max() < 2:
                continue
            places += [(site, layer, head) for head in range(inputs.num_heads)]
            widths += [inputs.query.size(-1)] * inputs.num_heads
            for name, of_layer in head_saturation(trace, site, layer).items():
                medians = of_layer.medians
                values = (medians.spread, of_layer.evenness, medians.gradient)
                found[name].append(tuple(value.numpy() for value in values))  # type: ignore[arg-type]
    return {
        name: Heads(tuple(places), tuple(widths), *(np.concatenate(parts) for parts in zip(*values, strict=True)))
        for name, values in found.items()
        if places
    }


def row_weights(trace: Trace, site: str, layer: int, head: int, row: int) -> dict[str, Float[np.ndarray, "key"]]:
    """ "dot" and "scaled" → the weights of one row of a head, scored so."""
    inputs = trace.attention(site, layer)
    return {name: with_scale(inputs, name).weights([head], [row])[0, 0].numpy() for name in ("dot", "scaled")}


def most_changed_row(trace: Trace, site: str, layer: int, head: int) -> int:
    """The row of a head whose weights change most between both ways, among as many as `MOST_ROWS` from the start."""
    inputs = trace.attention(site, layer)
    dot, scaled = (with_scale(inputs, name).weights([head], slice(MOST_ROWS))[0] for name in ("dot", "scaled"))
    return int((dot - scaled).abs().sum(-1).argmax())


def own_scale(trace: Trace) -> float:
    """What the first layer of a trace multiplies its scores with."""
    return float(trace.attention(trace.sites[0], 0).scale)
