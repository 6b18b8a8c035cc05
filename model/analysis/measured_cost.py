"""Measure what a computation costs on this machine: seconds of wall time and bytes of memory."""

import statistics
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from model.adapters.placement import GIGABYTE, available_bytes
from model.errors import DataError, said

#: A computation is repeated until so many seconds are over, at least and at most so many times.
SECONDS: Final = 0.25
LEAST, MOST = 3, 500


@dataclass(frozen=True)
class MeasuredCost:
    """What one run costs."""

    seconds: float  #: the least of its wall times, because whatever else the machine does can only add to it
    middle: float  #: the median of its wall times
    num_bytes: int  #: the most that its results held at once


def devices() -> tuple[torch.device, ...]:
    """Where can be measured: the CPU, and the GPU where there is one."""
    return (torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else ()))


@torch.inference_mode()
def measure(compute: Callable[[], object], device: torch.device) -> MeasuredCost:
    """Run a computation several times; the first run, in which torch prepares itself, does not count."""
    num_bytes = _most_bytes(compute, device)
    seconds: list[float] = []
    until = time.perf_counter() + SECONDS
    while len(seconds) < LEAST or (len(seconds) < MOST and time.perf_counter() < until):
        _wait_for(device)
        begun = time.perf_counter()
        compute()
        _wait_for(device)
        seconds.append(time.perf_counter() - begun)
    return MeasuredCost(min(seconds), statistics.median(seconds), num_bytes)


def check_memory(what: str, num_bytes: int, device: torch.device) -> None:
    """Make sure that so many bytes are free. Raises a DataError if they are not; the message names both amounts.

    `what` is what needs them, with its sizes, as a sentence begins.
    """
    there = available_bytes(device)
    if num_bytes > there:
        where = said("on the GPU") if device.type == "cuda" else said("in RAM")
        message = (
            "{what} needs {num_bytes:.1f} GB at once, but only {there:.1f} GB are free {where}. Choose a smaller size."
        )
        raise DataError(message, what=what, num_bytes=num_bytes / GIGABYTE, there=there / GIGABYTE, where=where)


def sizes_up_to(largest: int, smallest: int) -> tuple[int, ...]:
    """The sizes that are measured: the smallest, and each twice the one before."""
    return tuple(smallest << power for power in range(largest.bit_length()) if smallest << power <= largest)


def unsteadiness(costs: Sequence[MeasuredCost]) -> float:
    """How many times the least time a run took in the middle, the median of all: near 1 on a machine that is idle."""
    return statistics.median(cost.middle / cost.seconds for cost in costs)


def fitted_exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The slope of log cost over log size, by least squares: 1 where it doubles with the size, 2 where it quadruples.

    It is fitted over the larger half of the sizes, three at least: below, the fixed cost of a call hides any growth.
    """
    kept = max(3, len(sizes) // 2 + 1)
    x, y = (torch.tensor(values[-kept:], dtype=torch.float64).log() for values in (list(sizes), list(costs)))
    x = x - x.mean()
    return float((x * y).sum() / x.square().sum())


def _wait_for(device: torch.device) -> None:
    """Until the GPU has done what it was told; the CPU does it at once."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _most_bytes(compute: Callable[[], object], device: torch.device) -> int:
    if device.type == "cuda":
        compute()
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        compute()
        most: int = torch.cuda.max_memory_allocated(device) - before
        return most
    counted = _LiveBytes()
    with counted:
        compute()
    return counted.most


class _LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of all tensors that the operations within it make and that are not let go yet."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = self._now = 0
        self._live: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                self._add(tensor.untyped_storage())
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        name, size = storage._cdata, storage.nbytes()
        if name not in self._live:
            self._live.add(name)
            self._now += size
            self.most = max(self.most, self._now)
            weakref.finalize(storage, self._remove, name, size)

    def _remove(self, name: int, size: int) -> None:
        self._live.discard(name)
        self._now -= size
