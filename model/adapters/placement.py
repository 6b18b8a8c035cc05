"""Where the weights of a model lie: on one device, or, of a model larger than its memory, on several and on the disk.

What does not fit is placed by accelerate's device map: layers fill the GPU, then the machine's memory, and the rest is
read from the disk in every pass. Such a model computes the same, more slowly.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from weakref import finalize

import psutil
import torch
from torch import Tensor, nn

from model.errors import CheckpointError, said
from model.temporary_folders import TemporaryFolder

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

    `tables`: bytes that it computes and keeps beside its weights, always in memory; `largest`: numbers of the largest
    weight, which must be in memory as a whole. Raises a CheckpointError that says what it needs and what there is.
    """
    there = available_bytes(device)
    elsewhere = available_bytes(torch.device("cpu")) if device.type == "cuda" else 0
    weights, at_once = numbers * dtype.itemsize, tables + largest * dtype.itemsize
    if weights > MOST_TIMES * (there + elsewhere) or at_once > there:
        what = said("{count:,} weights and tables of positions and masks", count=numbers)
        if not tables:
            what = said("{count:,} weights", count=numbers)
        where = said("on the GPU") if device.type == "cuda" else said("in RAM")
        message = (
            "{name} is too large: its {what} need {weights:.1f} GB, but only {there:.1f} GB are free {where}. Close "
            "other models, or choose a smaller one."
        )
        raise CheckpointError(
            message, name=name, what=what, weights=(weights + tables) / GIGABYTE, there=there / GIGABYTE, where=where
        )


#: Of the memory that is free, so much is filled with weights; the rest is for what is computed.
SHARE: Final = 0.7
_HOME: Final = "headlight_home"


@dataclass(frozen=True)
class Placement:
    """How a model is loaded that is larger than the memory of its device."""

    device: torch.device  #: where it reads and computes
    most: dict[int | str, int]  #: device → bytes of weights that are put there; what is left stays on the disk

    def options(self, offloaded: Path) -> dict[str, Any]:
        """Options of `from_pretrained`; files are made in this folder, which must last as long as the model."""
        return {"device_map": "auto", "max_memory": self.most, "offload_folder": str(offloaded)}


def placement_for(numbers: int, tables: int, dtype: torch.dtype, device: torch.device) -> Placement | None:
    """Where a model of so many weights is put that does not fit on a device; None if it fits."""
    if fits(numbers, dtype, device, tables=tables):
        return None
    cpu = torch.device("cpu")
    most: dict[int | str, int] = {"cpu": int(SHARE * available_bytes(cpu))}
    if device.type == "cuda":
        gpus = range(torch.cuda.device_count()) if device.index is None else [device.index]
        most |= {gpu: int(SHARE * available_bytes(torch.device("cuda", gpu))) for gpu in gpus}
    return Placement(device, most)


@contextmanager
def folder_for_weights() -> Iterator[TemporaryFolder]:
    """A folder for the weights that stay on the disk; it goes at once if the block fails."""
    folder = TemporaryFolder("offloaded")
    try:
        yield folder
    except BaseException:
        folder.remove()
        raise


def settle(model: nn.Module, placement: Placement, offloaded: TemporaryFolder) -> nn.Module:
    """Note on a model where it reads, and let the folder with its weights go when it goes."""
    setattr(model, _HOME, placement.device)
    finalize(model, offloaded.remove)
    return model


def is_spread(model: nn.Module) -> bool:
    """Whether its weights do not all lie on the device where it reads."""
    return hasattr(model, _HOME)


def device_of(model: nn.Module) -> torch.device:
    """Where a model reads."""
    if is_spread(model):
        device: torch.device = getattr(model, _HOME)
        return device
    return next(model.parameters()).device


@contextmanager
def present(module: nn.Module) -> Iterator[None]:
    """The own weights of a module are in memory while the block lasts, wherever they lie."""
    is_away = any(parameter.is_meta for parameter in module.parameters(recurse=False))
    if is_away:
        from accelerate.utils import align_module_device
    with align_module_device(module, torch.device("cpu")) if is_away else nullcontext():
        yield


def weight_of(module: nn.Module, name: str = "weight") -> Tensor | None:
    """A module's own weight, float32 on the CPU and apart from any graph; None if it has none of this name."""
    with present(module):
        weight = getattr(module, name, None)
        return weight.detach().float().cpu() if isinstance(weight, Tensor) else None
