"""Compare the memory that a model needs with what is free."""

from pathlib import Path
from typing import Final

import psutil
import torch

from model.errors import CheckpointError
from model.messages import said

#: The control group of a Linux container.
_GROUP: Final = Path("/sys/fs/cgroup")
GIGABYTE: Final = 1e9
#: A model this many times as large as the memory is not run from the disk: each of its passes would take minutes.
MOST_TIMES: Final = 8


def available_bytes(device: torch.device) -> int:
    """Memory that is free for a model on this device."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    limits = [int(psutil.virtual_memory().available)]
    try:
        # A container may hold less than the machine has.
        limit, used = ((_GROUP / name).read_text(encoding="utf-8").strip() for name in ("memory.max", "memory.current"))
        limits += [] if limit == "max" else [int(limit) - int(used)]
    except (OSError, ValueError):
        pass
    return max(0, min(limits))


def fits(numbers: int, dtype: torch.dtype, device: torch.device, *, tables: int = 0) -> bool:
    """Whether so many weights, and tables of so many bytes beside them, fit on one device."""
    return numbers * dtype.itemsize + tables <= available_bytes(device)


def check_room(
    name: str, numbers: int, dtype: torch.dtype, device: torch.device, *, tables: int = 0, largest: int = 0
) -> None:
    """Make sure that a model can be run here, if need be with most of its weights on the disk.

    Args:
        name: for the message.
        numbers: weights.
        dtype, device: of them.
        tables: bytes that the model computes and keeps beside them, always in memory.
        largest: numbers of the largest weight, which must be in memory as a whole.

    Raises:
        CheckpointError: it cannot; the message names what it needs and what there is.
    """
    there = available_bytes(device)
    elsewhere = available_bytes(torch.device("cpu")) if device.type == "cuda" else 0
    weights, at_once = numbers * dtype.itemsize, tables + largest * dtype.itemsize
    if weights > MOST_TIMES * (there + elsewhere) or at_once > there:
        what = said("{count:,} weights and its tables of positions and masks", count=numbers)
        if not tables:
            what = said("{count:,} weights", count=numbers)
        where = said("on the GPU") if device.type == "cuda" else said("in memory")
        raise CheckpointError(
            "{name} is too large: its {what} need {weights:.1f} GB, and {there:.1f} GB are free {where}. Close "
            "other models, or choose a smaller one.",
            name=name,
            what=what,
            weights=(weights + tables) / GIGABYTE,
            there=there / GIGABYTE,
            where=where,
        )
