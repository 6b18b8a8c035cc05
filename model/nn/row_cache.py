"""The decoding cache of models without self-attention: a row of numbers for each target row, and the memory's keys."""

import torch
from torch import Tensor

from model.nn.encoder_decoder import PrefixCache
from model.nn.key_value_cache import KeyValueCache


class RowCache(PrefixCache):
    """Rows [batch, position, width] that each decoder layer has computed, and keys and values of each attention.

    A recurrent layer keeps its states, a convolutional one its inputs. Rows are never written in place.
    """

    def __init__(self, num_layers: int) -> None:
        self.attention = [KeyValueCache() for _ in range(num_layers)]
        self._rows: list[Tensor | None] = [None] * num_layers

    def __len__(self) -> int:
        rows = self._rows[-1]
        return 0 if rows is None else rows.size(1)

    def rows(self, layer: int) -> Tensor | None:
        """The rows of a layer so far; None before the first."""
        return self._rows[layer]

    def append(self, layer: int, new: Tensor) -> Tensor:
        """Add rows to those of a layer and return all of them."""
        before = self._rows[layer]
        rows = new if before is None else torch.cat((before, new), dim=1)
        self._rows[layer] = rows
        return rows

    def copy(self) -> "RowCache":
        """An independent cache of the same rows, which both share."""
        copied = RowCache(0)
        copied._rows = list(self._rows)
        copied.attention = [cache.copy() for cache in self.attention]
        return copied

    def truncate(self, length: int) -> None:
        """Forget every target row from `length` on."""
        self._rows = [None if rows is None else rows[:, :length] for rows in self._rows]

    def select(self, batch: Tensor) -> None:
        """Keep these sentences (or beams) of the batch, in this order."""
        self.select_prefixes(batch)
        for cache in self.attention:
            cache.select(batch)

    def select_prefixes(self, batch: Tensor) -> None:
        """Keep these beams, in this order, each of the same sentence as the row it replaces; the memory stays."""
        self._rows = [None if rows is None else rows[batch] for rows in self._rows]
