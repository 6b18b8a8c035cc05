"""Score functions compared: how far each saturates its softmax, and what it costs in operations, time and memory.

How far a softmax is saturated is told by the spread of its scores, its entropy, and the gradient that still flows.
The paper suspects that "for large values of d_k, the dot products grow large in magnitude, pushing the softmax function
into regions where it has extremely small gradients" (§3.2.1), and its footnote 4 says why: for components of mean 0 and
variance 1, Var(q · k) = d_k.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.init import xavier_uniform_

from model.analysis.measured_cost import MeasuredCost, check_memory, measure, sizes_up_to
from model.errors import ConfigError, said
from model.nn.attention import AttentionInputs, ScoresAndWeights, attention_weights, entropy_bits
from model.nn.score_functions import DOT_PRODUCT, TERMS_AT_ONCE, Additive, Bilinear, ScoreFunction
from model.trace.trace import Trace

#: The functions that are compared, by what a table calls them.
NAMES: Final = ("dot", "scaled", "additive", "general")
#: Sizes of the sample: so many queries, each with `KEYS` keys of its own.
QUERIES, KEYS = 256, 32
#: At each of these widths the functions are compared.
WIDTHS: Final = tuple(2**power for power in range(1, 11))
_SEED: Final = 3


@dataclass(frozen=True, eq=False)
class Rows:
    """What is measured of each row of a softmax."""

    spread: Float[Tensor, "*row"]  #: the standard deviation of its scores, in nats
    entropy: Float[Tensor, "*row"]  #: of its weights, in bits; at most log₂ of the number of keys
    gradient: Float[Tensor, "*row"]  #: ‖∂ weights / ∂ scores‖, the Frobenius norm of the softmax's Jacobian


@dataclass(frozen=True, eq=False)
class Saturation:
    """A score function on random vectors of one width."""

    variance: float  #: of all scores, as measured
    expected_variance: float  #: as its formula has it
    rows: Rows  #: each query's
    #: the weights of the query in the middle of all by the gradient that flows, largest first.
    example: Float[Tensor, "key"]


def jacobian_norm(weights: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """‖diag(w) − w wᵀ‖, the Frobenius norm of ∂ softmax(s) / ∂ s where the softmax is w.

    Its square is Σ w_i² (1 − w_i)² + Σ_{i≠j} w_i² w_j²: 0 where one key has all the weight, largest where two share it.
    """
    # 1 − w of the largest is what the others sum to: of a saturated row the difference itself would be rounding alone.
    ordered = weights.sort(descending=True).values
    largest, others = ordered[..., 0], ordered[..., 1:]
    rest, squares = others.sum(-1), others.square().sum(-1)
    diagonal = (largest * rest).square() + (others * (1 - others)).square().sum(-1)
    between_others = squares.square() - others.pow(4).sum(-1)
    return (diagonal + 2 * largest.square() * squares + between_others).sqrt()


def measure_rows(derived: ScoresAndWeights) -> Rows:
    """Measure every row; keys that a mask forbids (−∞) do not count."""
    scores, weights = derived.scores.double(), derived.weights.double()
    allowed = scores.isfinite()
    count = allowed.sum(-1)
    centred = scores - (scores.masked_fill(~allowed, 0).sum(-1) / count)[..., None]
    spread = (centred.masked_fill(~allowed, 0).square().sum(-1) / count).sqrt()
    return Rows(spread, entropy_bits(weights), jacobian_norm(weights))


def random_function(name: str, width: int, generator: torch.Generator) -> tuple[ScoreFunction, float]:
    """A score function that has learned nothing yet, and the scale of its scores.

    Its matrix or vector is drawn uniformly as Glorot & Bengio 2010 (eq. 16) draw those of a layer.
    """
    if name == "additive":
        return Additive(xavier_uniform_(torch.empty(1, width), generator=generator)), 1.0
    if name == "general":
        return Bilinear(xavier_uniform_(torch.empty(width, width), generator=generator)[None]), 1.0
    return DOT_PRODUCT, width**-0.5 if name == "scaled" else 1.0


def expected_variance(name: str, width: int) -> float:
    """The variance of a score of two random vectors whose components have mean 0 and variance 1.

    d_k for the dot product (footnote 4 of the paper) and for q W k with the variance 1/d_k in W; 1 once divided by
    √d_k; 2 d_k / (d_k + 1) · E[tanh²(q_c + k_c)] for the additive function, which does not grow.
    """
    if name == "additive":
        points = torch.linspace(-8, 8, 4001, dtype=torch.float64)
        density = torch.exp(-points.square() / 2)
        mean = (torch.tanh(2**0.5 * points).square() * density).sum() / density.sum()
        return float(2 * width / (width + 1) * mean)
    return 1.0 if name == "scaled" else float(width)


@torch.inference_mode()
def random_saturation(name: str, width: int) -> Saturation:
    """Scores of random queries and keys, all components from N(0, 1), always the same ones for a width."""
    generator = torch.Generator().manual_seed(_SEED * width)
    query = torch.randn(QUERIES, 1, 1, width, generator=generator)
    key = torch.randn(QUERIES, 1, KEYS, width, generator=generator)
    function, scale = random_function(name, width, generator)
    derived = attention_weights(query, key, scale=scale, score=function)
    rows = measure_rows(derived)
    middle = int(rows.gradient.flatten().argsort()[rows.gradient.numel() // 2])
    example = derived.weights.view(-1, KEYS)[middle].sort(descending=True).values
    return Saturation(float(derived.scores.double().var()), expected_variance(name, width), rows, example)


#: Of a longer text, so many rows at most are measured, evenly spaced.
MOST_ROWS: Final = 64


@dataclass(frozen=True, eq=False)
class HeadSaturation:
    """The heads of a layer with one scale: the median of each head's rows that had a choice."""

    medians: Rows  #: of each head
    #: entropy as a share of the largest that the row could have, 1 where all keys are alike.
    evenness: Float[Tensor, "head"]


def with_scale(inputs: AttentionInputs, name: str) -> AttentionInputs:
    """The same queries and keys, scored by the plain ("dot") or by the scaled dot product ("scaled")."""
    return replace(inputs, scale=inputs.query.size(-1) ** -0.5 if name == "scaled" else 1.0)


@torch.inference_mode()
def head_saturation(trace: Trace, site: str, layer: int) -> Mapping[str, HeadSaturation]:
    """ "dot" and "scaled" → how saturated the heads of a layer are; a TraceError where queries are not known.

    Rows that may look at one key only are left out: their softmax has no gradient whatever the scale.
    """
    inputs = trace.attention(site, layer)
    rows = _with_choice(inputs).tolist()
    return {name: _of_layer(with_scale(inputs, name).scores_and_weights(rows=rows)) for name in ("dot", "scaled")}


def _of_layer(derived: ScoresAndWeights) -> HeadSaturation:
    rows = measure_rows(derived)
    most = derived.scores.isfinite().sum(-1).double().log2()
    medians = Rows(*(value.median(1).values for value in (rows.spread, rows.entropy, rows.gradient)))
    return HeadSaturation(medians, (rows.entropy / most).median(1).values)


def _with_choice(inputs: AttentionInputs) -> Int[Tensor, "row"]:
    rows = (inputs.mask.rows()[0].sum(-1) > 1).nonzero()[:, 0]
    # A text of one token has no row with a choice; what it has is measured.
    rows = rows if len(rows) else torch.arange(inputs.query.size(1))
    return rows[torch.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).round().long()]


#: The functions whose cost is measured; scaling costs n² more multiplications, which cannot be told from nothing.
MEASURED: Final = ("dot", "general", "additive")
SMALLEST: Final = 64
_FLOAT: Final = 4


@dataclass(frozen=True)
class Operations:
    """Counted operations of the scores of n queries and n keys: products added to a sum, and values of tanh."""

    multiply_adds: int
    tanh: int = 0


@dataclass(frozen=True)
class ScoreCost:
    """What one function cost at one size on one device ("cpu" or "cuda")."""

    name: str
    size: int
    device: str
    measured: MeasuredCost


def operations(name: str, size: int, width: int) -> Operations:
    """n² d_k multiply-adds; n d_k² more for the matrix; for the additive function as many sums, and n² d_k tanh."""
    pairs = size * size * width
    if name == "additive":
        return Operations(2 * pairs, pairs)
    return Operations(pairs + (size * width * width if name == "general" else 0))


def needed_bytes(name: str, size: int, width: int) -> int:
    """What the scores of one function take at once: queries, keys, scores, and what lies between."""
    terms = size * size * width
    between = 2 * min(terms, max(TERMS_AT_ONCE, size * width)) if name == "additive" else size * width + width * width
    return _FLOAT * (2 * size * width + 2 * size * size + between)


def score_costs(
    largest: int, width: int, devices: Sequence[torch.device], progress: Callable[[int], None]
) -> tuple[ScoreCost, ...]:
    """Measure every function at every size (queries, keys) up to the largest, at width d_k, on every device.

    `progress` is called with 1 after each of the measurements; it may end them by an exception.

    Raises:
        ConfigError: the largest is below `SMALLEST`.
        DataError: it does not fit into the memory.
    """
    if largest < SMALLEST:
        message = "Expected at least {smallest} queries and keys, got {largest}."
        raise ConfigError(message, smallest=SMALLEST, largest=largest)
    for device in devices:
        needed = max(needed_bytes(name, largest, width) for name in MEASURED)
        what = said(
            "Scoring {count:,} queries against {count:,} keys of {width} numbers each", count=largest, width=width
        )
        check_memory(what, needed, device)
    costs = []
    for device in devices:
        for name in MEASURED:
            for size in sizes_up_to(largest, SMALLEST):
                costs.append(_measured(name, size, width, device))
                progress(1)
    return tuple(costs)


def _measured(name: str, size: int, width: int, device: torch.device) -> ScoreCost:
    generator = torch.Generator().manual_seed(size)
    query, key = (torch.randn(1, size, width, generator=generator).to(device) for _ in range(2))
    function: ScoreFunction = random_function(name, width, generator)[0].to(device)
    return ScoreCost(name, size, device.type, measure(lambda: function.scores(query, key), device))
