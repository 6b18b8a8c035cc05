"""Cut rows into blocks so small that the logits of a block fit into memory."""

from typing import Final

import torch
from jaxtyping import Shaped
from torch import Tensor

#: 16 MiB in float32; vocabulary × rows × layers of a long sentence would be hundreds of times as much.
LOGITS_AT_ONCE: Final = 1 << 22


def logit_blocks(rows: Shaped[Tensor, "row *rest"], vocab_size: int) -> tuple[Shaped[Tensor, "_block *rest"], ...]:
    """The rows in order, cut so that a block has at most `LOGITS_AT_ONCE` logits, or is a single row."""
    return torch.split(rows, max(1, LOGITS_AT_ONCE // vocab_size))
