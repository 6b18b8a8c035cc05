"""What the scores of n queries and n keys cost by each score function: operations counted, time and memory measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from model.analysis.measured_cost import MeasuredCost, check_memory, measure, sizes_up_to
from model.analysis.scoring.saturation import random_function
from model.errors import ConfigError
from model.messages import said
from model.nn.score_functions import TERMS_AT_ONCE, ScoreFunction

#: The functions whose cost is measured; scaling costs n² more multiplications, which cannot be told from nothing.
NAMES: Final = ("dot", "general", "additive")
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
    """Measure every function at every size up to the largest, on every device.

    Args:
        largest: number of queries, and of keys.
        width: d_k.
        progress: called with 1 after each of the measurements; it may end them by an exception.

    Raises:
        ConfigError: the largest is below `SMALLEST`.
        DataError: it does not fit into the memory.
    """
    if largest < SMALLEST:
        raise ConfigError(
            "Expected at least {smallest} queries and keys, got {largest}.", smallest=SMALLEST, largest=largest
        )
    for device in devices:
        needed = max(needed_bytes(name, largest, width) for name in NAMES)
        what = said("A score of {count:,} queries and {count:,} keys of {width} numbers", count=largest, width=width)
        check_memory(what, needed, device)
    costs = []
    for device in devices:
        for name in NAMES:
            for size in sizes_up_to(largest, SMALLEST):
                costs.append(_measured(name, size, width, device))
                progress(1)
    return tuple(costs)


def _measured(name: str, size: int, width: int, device: torch.device) -> ScoreCost:
    generator = torch.Generator().manual_seed(size)
    query, key = (torch.randn(1, size, width, generator=generator).to(device) for _ in range(2))
    function: ScoreFunction = random_function(name, width, generator)[0].to(device)
    return ScoreCost(name, size, device.type, measure(lambda: function.scores(query, key), device))
