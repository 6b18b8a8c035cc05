"""The layers of Table 1: what is counted of them, how far influence comes, and the task that measures them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.server.background_jobs import Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.analysis.layer_kinds.kinds import Kind
    from model.analysis.layer_kinds.times import LayerTimes

#: The kinds of `model.analysis.layer_kinds.kinds`, in the order in which pictures have them.
KINDS: "Final[tuple[Kind, ...]]" = ("self-attention", "recurrent", "convolution", "dilated", "restricted")
#: What can be chosen: n, d, k and r.
LENGTHS: Final = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
WIDTHS: Final = (64, 128, 256, 512, 1_024)
KERNELS: Final = (3, 5, 7, 9)
WINDOWS: Final = (3, 5, 9, 17, 33)
#: Layers whose influence is drawn.
LAYERS: Final = 4


@cached(max_entries=64)
def influences(kernel: int, window: int) -> "Mapping[Kind, tuple[Float[np.ndarray, 'output input'], ...]]":
    """Kind → |∂ output / ∂ input| after 1 to `LAYERS` layers; read-only."""
    from model.analysis.layer_kinds.kinds import Settings, influence

    found = {}
    for kind in KINDS:
        arrays = [of_depth.numpy() for of_depth in influence(kind, LAYERS, Settings(kernel, window))]
        for array in arrays:
            array.setflags(write=False)
        found[kind] = tuple(arrays)
    return found


def counted(kind: "Kind", length: int, width: int, kernel: int, window: int) -> tuple[int, int, int]:
    """Multiply-adds of a layer, steps of it that wait for one another, layers until the two ends have met."""
    from model.analysis.layer_kinds import kinds

    settings = kinds.Settings(kernel, window)
    return (
        kinds.multiply_adds(kind, length, width, settings),
        kinds.sequential_steps(kind, length),
        kinds.layers_between_ends(kind, length, settings),
    )


def paper_exponents(kind: "Kind") -> tuple[int, int]:
    """Of n and of d, in the paper's Table 1."""
    from model.analysis.layer_kinds import kinds

    return kinds.PAPER_EXPONENTS[kind]


def crossing(times: "LayerTimes", device: str) -> float | None:
    """The n from which on self-attention takes longer than the recurrent layer; None if it does not, 0 if always."""
    from model.analysis.layer_kinds import times as layer_times

    first, second = (times.of(kind, device, over_length=True) for kind in ("self-attention", "recurrent"))
    return layer_times.crossing(first, second)


def times_task(length: int, width: int, kernel: int, window: int) -> "Task[LayerTimes]":
    """The measurement of all layers, on the CPU and, where there is one, on the GPU."""
    from model.analysis import measured_cost
    from model.analysis.layer_kinds import kinds, times

    places, settings = measured_cost.devices(), kinds.Settings(kernel, window)
    sizes = len(times.sizes_up_to(length)) + len(times.sizes_up_to(max(width, times.WIDEST)))
    return Task(
        ("layer times", length, width, kernel, window),
        len(places) * len(kinds.KINDS) * sizes,
        said("measurements"),
        lambda progress: times.layer_times(length, width, settings, places, progress),
        said("Measuring: {done} of {total}, about {left:.0f} s left"),
    )
