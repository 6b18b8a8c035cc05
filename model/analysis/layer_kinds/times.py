"""The wall time of one layer of each kind of Table 1, over the number of positions n and over their components d."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from model.analysis.layer_kinds.kinds import KINDS, Kind, Settings, multiply_adds, random_layer
from model.analysis.measured_cost import MeasuredCost, check_memory, fitted_exponent, measure, sizes_up_to, unsteadiness
from model.messages import said

SMALLEST: Final = 16
#: Over d, a layer of so many positions is measured up to so many components at least.
POSITIONS, WIDEST = 128, 512
_FLOAT: Final = 4


@dataclass(frozen=True)
class LayerTime:
    """One layer: its kind, n, d, the device ("cpu" or "cuda"), and what it cost."""

    kind: Kind
    length: int
    width: int
    device: str
    measured: MeasuredCost

    @property
    def seconds(self) -> float:
        """The least of its wall times."""
        return self.measured.seconds


@dataclass(frozen=True)
class LayerTimes:
    """All measurements: over n at one d, and over d at one n."""

    settings: Settings
    length: int
    width: int
    over_length: tuple[LayerTime, ...]  #: n up to `length`, d is `width` in all of them
    over_width: tuple[LayerTime, ...]  #: n is `POSITIONS` in all of them

    def of(self, kind: Kind, device: str, *, over_length: bool) -> list[LayerTime]:
        """One curve, from the smallest size on."""
        measured = self.over_length if over_length else self.over_width
        return [one for one in measured if (one.kind, one.device) == (kind, device)]

    def exponents(self, kind: Kind, device: str, *, over_length: bool) -> tuple[float, float]:
        """The exponent of n, or of d, by counted multiply-adds and by measured seconds, fitted over the same sizes."""
        curve = self.of(kind, device, over_length=over_length)
        sizes = [one.length if over_length else one.width for one in curve]
        counted = [float(multiply_adds(kind, one.length, one.width, self.settings)) for one in curve]
        return fitted_exponent(sizes, counted), fitted_exponent(sizes, [one.seconds for one in curve])

    @property
    def unsteadiness(self) -> float:
        """How many times the least time a run took in the middle: near 1 on a machine that is idle."""
        return unsteadiness([one.measured for one in (*self.over_length, *self.over_width)])


def needed_bytes(length: int, width: int, settings: Settings) -> int:
    """What the largest of the layers holds at once."""
    windows = 2 * length * settings.window * width
    return _FLOAT * (12 * length * width + windows + 12 * width * width)


def layer_times(
    length: int, width: int, settings: Settings, devices: Sequence[torch.device], progress: Callable[[int], None]
) -> LayerTimes:
    """Measure a layer of every kind, over n up to `length` at d = `width`, and over d at n = `POSITIONS`.

    Raises a DataError if the largest does not fit into the memory. `progress` is called with 1 after each of the
    measurements; it may end them by an exception.
    """
    what = said("A layer of {length:,} positions of {width:,} numbers", length=length, width=width)
    for device in devices:
        check_memory(what, needed_bytes(length, width, settings), device)

    def measured(lengths: Sequence[int], widths: Sequence[int]) -> tuple[LayerTime, ...]:
        times = []
        for device in devices:
            for kind in KINDS:
                for n in lengths:
                    for d in widths:
                        times.append(_measured(kind, n, d, settings, device))
                        progress(1)
        return tuple(times)

    over_length = measured(sizes_up_to(length, SMALLEST), [width])
    over_width = measured([POSITIONS], sizes_up_to(max(width, WIDEST), SMALLEST))
    return LayerTimes(settings, length, width, over_length, over_width)


def crossing(first: Sequence[LayerTime], second: Sequence[LayerTime]) -> float | None:
    """The n from which on the first curve lies above the second, between the sizes by their logarithms.

    None where it does not, and 0 where it does from the smallest size on.
    """
    ratios = [one.seconds / other.seconds for one, other in zip(first, second, strict=True)]
    if ratios[-1] <= 1:
        return None
    below = [position for position, ratio in enumerate(ratios) if ratio <= 1]
    if not below:
        return 0.0
    last = below[-1]
    start, end = (torch.tensor(ratios[position]).log() for position in (last, last + 1))
    return float(first[last].length * 2 ** float(-start / (end - start)))


def _measured(kind: Kind, length: int, width: int, settings: Settings, device: torch.device) -> LayerTime:
    layer = random_layer(kind, width, settings).to(device)
    x = torch.randn(1, length, width, generator=torch.Generator().manual_seed(length)).to(device)
    return LayerTime(kind, length, width, device.type, measure(lambda: layer(x), device))
