"""What the tabs on claims measure: the softmax, pooling with a kernel, masks, positions, and the layers of Table 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import BatchMasks, Trace, Translator
from model.analysis import layer_kinds, measured_cost, pooling, scoring
from model.analysis.layer_kinds import Kind, LayerTimes, Settings, influence
from model.analysis.scoring import MOST_ROWS, ScoreCost, head_saturation, random_saturation, with_scale
from viz.server.background_jobs import Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from torch import Tensor

#: The functions, in the order in which pictures have them: those of `model.analysis.scoring`.
NAMES: Final = ("dot", "scaled", "additive", "general")
#: Those whose cost is measured: `model.analysis.scoring.NAMES`.
COSTED: Final = ("dot", "general", "additive")
#: The widths at which random vectors are compared, and the most keys that a cost is measured with.
WIDTHS: Final = tuple(2**power for power in range(1, 11))
SIZES: Final = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)


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


#: The kinds of `model.analysis.layer_kinds`, in the order in which pictures have them.
KINDS: Final[tuple[Kind, ...]] = ("self-attention", "recurrent", "convolution", "dilated", "restricted")
#: What can be chosen: n, d, k and r.
LENGTHS: Final = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
LAYER_WIDTHS: Final = (64, 128, 256, 512, 1_024)
KERNELS: Final = (3, 5, 7, 9)
WINDOWS: Final = (3, 5, 9, 17, 33)
#: Of n and of d, in the paper's Table 1.
PAPER_EXPONENTS: Final = layer_kinds.PAPER_EXPONENTS
#: Counts the operations for scores of so many queries and keys.
operations: Final = scoring.operations
#: Layers whose influence is drawn.
LAYERS: Final = 4


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


def unsteadiness(costs: Sequence[ScoreCost]) -> float:
    """How many times the least time a run took in the middle: near 1 on a machine that is idle."""
    return measured_cost.unsteadiness([one.measured for one in costs])


def cost_task(largest: int, width: int) -> Task[tuple[ScoreCost, ...]]:
    """The measurement of what score functions cost, on the CPU and, where there is one, on the GPU."""
    places = measured_cost.devices()
    total = len(places) * len(scoring.MEASURED) * len(measured_cost.sizes_up_to(largest, scoring.SMALLEST))
    return Task(
        ("score costs", largest, width),
        total,
        said("measurements"),
        lambda progress: scoring.score_costs(largest, width, places, progress),
        said("Measuring: {done} of {total}, about {left:.0f} s left"),
    )


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


@cached(max_entries=64)
def influences(kernel: int, window: int) -> Mapping[Kind, tuple[Float[np.ndarray, "output input"], ...]]:
    """Kind → |∂ output / ∂ input| after 1 to `LAYERS` layers; read-only."""
    found = {}
    for kind in KINDS:
        arrays = [of_depth.numpy() for of_depth in influence(kind, LAYERS, Settings(kernel, window))]
        for array in arrays:
            array.setflags(write=False)
        found[kind] = tuple(arrays)
    return found


def counted(kind: Kind, length: int, width: int, kernel: int, window: int) -> tuple[int, int, int]:
    """Multiply-adds of a layer, steps of it that wait for one another, layers until the two ends have met."""
    settings = layer_kinds.Settings(kernel, window)
    return (
        layer_kinds.multiply_adds(kind, length, width, settings),
        layer_kinds.sequential_steps(kind, length),
        layer_kinds.layers_between_ends(kind, length, settings),
    )


def crossing(times: LayerTimes, device: str) -> float | None:
    """The n from which on self-attention takes longer than the recurrent layer; None if it does not, 0 if always."""
    first, second = (times.of(kind, device, over_length=True) for kind in ("self-attention", "recurrent"))
    return layer_kinds.crossing(first, second)


def times_task(length: int, width: int, kernel: int, window: int) -> Task[LayerTimes]:
    """The measurement of all layers, on the CPU and, where there is one, on the GPU."""
    places, settings = measured_cost.devices(), layer_kinds.Settings(kernel, window)
    largest = length, max(width, layer_kinds.WIDEST)
    sizes = sum(len(measured_cost.sizes_up_to(most, layer_kinds.SMALLEST)) for most in largest)
    return Task(
        ("layer times", length, width, kernel, window),
        len(places) * len(layer_kinds.KINDS) * sizes,
        said("measurements"),
        lambda progress: layer_kinds.layer_times(length, width, settings, places, progress),
        said("Measuring: {done} of {total}, about {left:.0f} s left"),
    )


MAX_BATCHES: Final = 64


@cached(max_entries=MAX_BATCHES)
def batch_masks(translator: Translator, texts: tuple[str, ...]) -> BatchMasks:
    """The masks of texts that share a batch, as the model uses them."""
    return translator.masks(texts)
