"""Store a bias on attention scores that depends only on head and distance as one row of numbers per head.

Relative positions (T5, Raffel et al. 2020, §2.1) and ALiBi (Press et al. 2022) add such a bias to every score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.nn.masks import Rows

ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class DistanceBias:
    """bias[head, query i, key j] = table[head, j − i + num_queries − 1].

    Attributes:
        table: from the key farthest before its query (the last query's first key) to the one farthest behind.
        num_queries: rows.
    """

    table: Float[Tensor, "head distance"]
    num_queries: int

    @property
    def num_keys(self) -> int:
        """Columns."""
        return self.table.size(1) - self.num_queries + 1

    def rows(self, heads: Sequence[int], rows: Rows = slice(None)) -> Float[Tensor, "head row key"]:
        """The bias of these heads and query rows."""
        if isinstance(rows, slice) and rows.step is None:
            start, stop, _ = rows.indices(self.num_queries)
            # Each row is the row below it moved by one: windows of the table, the last row's first.
            windows = self.table[list(heads), self.num_queries - stop : self.num_queries - start + self.num_keys - 1]
            return windows.unfold(1, self.num_keys, 1).flip(1)
        queries = torch.arange(self.num_queries, device=self.table.device)[rows]
        keys = torch.arange(self.num_keys, device=self.table.device)
        return self.table[list(heads)][:, keys[None, :] - queries[:, None] + self.num_queries - 1]

    def to(self, device: torch.device) -> "DistanceBias":
        """The same on another device."""
        return DistanceBias(self.table.to(device), self.num_queries)


def distance_bias(bias: Float[Tensor, "head query key"]) -> DistanceBias | None:
    """The table behind a bias; None if it depends on more than head and distance."""
    if bias.size(2) < bias.size(1):
        return None
    # The last row, then the rest of the first row: from far before to far behind.
    table = torch.cat((bias[:, -1], bias[:, 0, bias.size(2) - bias.size(1) + 1 :]), dim=-1)
    result = DistanceBias(table.clone(), bias.size(1))
    heads = range(bias.size(0))
    blocks = (slice(first, first + ROWS_AT_ONCE) for first in range(0, bias.size(1), ROWS_AT_ONCE))
    return result if all(torch.equal(result.rows(heads, rows), bias[:, rows]) for rows in blocks) else None
