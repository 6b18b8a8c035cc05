"""The layers of Table 1: how far influence comes, and what is counted of each."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from jaxtyping import Float

from model.analysis import layer_kinds
from model.analysis.layer_kinds import Kind, Settings, influence
from viz.server.caches import cached

#: The kinds of `model.analysis.layer_kinds`, in the order in which pictures have them.
KINDS: Final[tuple[Kind, ...]] = ("self-attention", "recurrent", "convolution", "dilated", "restricted")
#: What can be chosen: n, d, k and r.
LENGTHS: Final = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
LAYER_WIDTHS: Final = (64, 128, 256, 512, 1_024)
KERNELS: Final = (3, 5, 7, 9)
WINDOWS: Final = (3, 5, 9, 17, 33)
#: Layers whose influence is drawn.
LAYERS: Final = 4


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
