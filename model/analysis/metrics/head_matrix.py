"""Compute any part of one head's matrix between two axes, never the whole.

The numbers are weights, value-weighted norms or a rollout, between tokens or words, as for a whole layer at once
(`norms`, `rollout`, `axes`); for a text of thousands of tokens these would be gigabytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.metrics.norms import transformed_values
from model.nn.attention import AttentionInputs
from model.trace.axes import Axis, between
from model.trace.row_blocks import log_sum_exp, row_slices, weights_tile

#: Query positions, key positions → the numbers between them.
TokenValues = Callable[[list[int], list[int]], Float[Tensor, "query key"]]


@dataclass(frozen=True, eq=False)
class HeadMatrix:
    """The numbers of one head, or of a rollout, between the tokens or words of two axes."""

    token_values: TokenValues
    queries: Axis
    keys: Axis

    def part(self, rows: slice, columns: slice) -> Float[Tensor, "row column"]:
        """The numbers of some rows and columns."""
        queries, keys = self.queries.part(rows), self.keys.part(columns)
        values = self.token_values([*chain(*queries.groups)], [*chain(*keys.groups)])
        return between(values, _renumbered(queries), _renumbered(keys))

    def pooled(self, rows: slice, columns: slice, block: tuple[int, int]) -> Float[Tensor, "block_row block_column"]:
        """The largest number of every block [rows, columns] of this part; blocks at the ends may be smaller."""
        tall, wide = block
        top, bottom, _ = rows.indices(len(self.queries.labels))
        left, right, _ = columns.indices(len(self.keys.labels))
        if block == (1, 1):
            return self.part(slice(top, bottom), slice(left, right))
        pooled = []
        # Whole blocks at a time, as many as have no more values than may be held.
        for blocks in row_slices(0, -(-(bottom - top) // tall), tall * (right - left)):
            first, last = top + blocks.start * tall, min(bottom, top + blocks.stop * tall)
            across = _largest(self.part(slice(first, last), slice(left, right)), wide)
            pooled.append(_largest(across.T, tall).T)
        return torch.cat(pooled)


def weights_of(inputs: AttentionInputs, head: int) -> TokenValues:
    """The weights of a head."""
    sums = log_sum_exp(inputs, [head])[0]
    return lambda rows, columns: weights_tile(inputs, head, rows, columns, sums)


def norms_of(inputs: AttentionInputs, head: int, output_projection: Float[Tensor, "head d_v d_model"]) -> TokenValues:
    """The value-weighted norms of a head (`norms.value_weighted_norms`)."""
    weights = weights_of(inputs, head)
    lengths = transformed_values(inputs.values([head]), output_projection[[head]]).norm(dim=-1)[0]
    return lambda rows, columns: weights(rows, columns) * lengths[columns]


def values_of(matrix: Float[Tensor, "query key"]) -> TokenValues:
    """The numbers of a whole matrix between tokens."""
    return lambda rows, columns: matrix[rows][:, columns]


def _largest(values: Float[Tensor, "row column"], width: int) -> Float[Tensor, "row block"]:
    missing = -values.size(1) % width
    padded = torch.nn.functional.pad(values, (0, missing), value=-torch.inf)
    return padded.view(len(values), -1, width).amax(-1)


def _renumbered(axis: Axis) -> Axis:
    """The same groups, if their tokens are the only ones, in order."""
    ends = list(accumulate(map(len, axis.groups)))
    groups = (tuple(range(end - len(group), end)) for end, group in zip(ends, axis.groups, strict=True))
    return Axis(axis.labels, tuple(groups))
