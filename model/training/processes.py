"""Share a training run between the processes that `torchrun` starts, or run alone.

`torchrun --nproc-per-node 2 -m -- model train …` starts two; without the `--` it would take our `--run` for its own.
torch's launcher, process group and DistributedDataParallel do the work.
"""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Processes:
    """How many processes share a run, and which of them this is."""

    count: int
    rank: int

    @property
    def is_first(self) -> bool:
        """The one that writes files and logs."""
        return self.rank == 0


ALONE = Processes(count=1, rank=0)


def join_processes(device: torch.device) -> tuple[Processes, torch.device]:
    """Meet the other processes if `torchrun` started this one; on CUDA each takes the device of its local rank."""
    if not dist.is_torchelastic_launched():
        return ALONE, device
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return Processes(dist.get_world_size(), dist.get_rank()), device


def part(processes: Processes) -> None:
    """End the meeting, after the last common step."""
    if processes.count > 1:
        dist.destroy_process_group()


def wait_for_all(processes: Processes) -> None:
    """Return when every process has come here."""
    if processes.count > 1:
        dist.barrier()


def add_up(value: Tensor, processes: Processes) -> Tensor:
    """The sum of a value over all processes, in place."""
    if processes.count > 1:
        dist.all_reduce(value)
    return value
