"""The keys and values that decoding keeps, so that a step computes those of its own row only."""

import copy

import torch
from torch import Tensor


class KeyValueCache:
    """Keys and values that an attention site computed in earlier decoding steps, [batch, head, position, d_k].

    Self attention appends the rows of each step; cross attention fills it once, from the memory.
    """

    def __init__(self) -> None:
        self.key: Tensor | None = None
        self.value: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.key is None else self.key.size(2)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the rows of this step and return all rows so far."""
        self.key = key if self.key is None else torch.cat((self.key, key), dim=2)
        self.value = value if self.value is None else torch.cat((self.value, value), dim=2)
        return self.key, self.value

    def copy(self) -> "KeyValueCache":
        """An independent cache of the same rows; rows are never written in place, so both share them."""
        return copy.copy(self)

    def truncate(self, length: int) -> None:
        """Forget every row from `length` on."""
        if self.key is not None and self.value is not None:
            self.key, self.value = self.key[:, :, :length], self.value[:, :, :length]

    def select(self, batch: Tensor) -> None:
        """Keep these sentences (or beams) of the batch, in this order."""
        if self.key is not None and self.value is not None:
            self.key, self.value = self.key[batch], self.value[batch]
