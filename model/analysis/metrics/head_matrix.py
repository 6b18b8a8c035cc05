"""Compute any part of one head's matrix between two axes, never the whole.

The numbers are weights, value-weighted norms or a rollout, between tokens or words, as for a whole layer at once
(`measures`, `axes`); for a text of thousands of tokens these would be gigabytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.metrics.measures import transformed_values
from model.nn.attention import AttentionInputs
from model.nn.masks import Rows
from model.trace.axes import Axis, between
from model.trace.row_blocks import log_sum_exp, pooled_weights, row_slices, weights_tile

#: Of a part with so large a share of the keys, maxima are computed row by row; of a smaller one, cell by cell.
MOST_KEYS: Final = 0.25


@runtime_checkable
class TokenValues(Protocol):
    """The numbers between the tokens of a text, of which nobody holds all."""

    def part(self, rows: Rows, columns: Rows) -> Float[Tensor, "query key"]:
        """The numbers between these query and key positions."""

    def maxima(self, row_edges: Sequence[int], column_edges: Sequence[int]) -> Float[Tensor, "block_row block_column"]:
        """The largest number of every block; edges as for `row_blocks.pooled_weights`."""


@dataclass(frozen=True, eq=False)
class HeadMatrix:
    """The numbers of one head, or of a rollout, between the tokens or words of two axes."""

    token_values: TokenValues
    queries: Axis
    keys: Axis

    def part(self, rows: slice, columns: slice) -> Float[Tensor, "row column"]:
        """The numbers of some rows and columns."""
        queries, keys = self.queries.part(rows), self.keys.part(columns)
        values = self.token_values.part(_positions(queries), _positions(keys))
        return between(values, _renumbered(queries), _renumbered(keys))

    def pooled(self, rows: slice, columns: slice, block: tuple[int, int]) -> Float[Tensor, "block_row block_column"]:
        """The largest number of every block [rows, columns] of this part; blocks at the ends may be smaller."""
        tall, wide = block
        top, bottom, _ = rows.indices(len(self.queries.labels))
        left, right, _ = columns.indices(len(self.keys.labels))
        if block == (1, 1):
            return self.part(slice(top, bottom), slice(left, right))
        tokens = [_run(self.queries.part(slice(top, bottom))), _run(self.keys.part(slice(left, right)))]
        if right - left > MOST_KEYS * len(self.keys.labels) and tokens[0] is not None and tokens[1] is not None:
            return self.token_values.maxima(_edges(tokens[0], tall), _edges(tokens[1], wide))
        pooled = []
        # Whole blocks at a time, as many as have no more values than may be held.
        for blocks in row_slices(0, -(-(bottom - top) // tall), tall * (right - left)):
            first, last = top + blocks.start * tall, min(bottom, top + blocks.stop * tall)
            across = _largest(self.part(slice(first, last), slice(left, right)), wide)
            pooled.append(_largest(across.T, tall).T)
        return torch.cat(pooled)


def weights_of(inputs: AttentionInputs, head: int) -> TokenValues:
    """The weights of a head."""
    return _Weights(inputs, head)


def norms_of(inputs: AttentionInputs, head: int, output_projection: Float[Tensor, "head d_v d_model"]) -> TokenValues:
    """The value-weighted norms of a head (`measures.value_weighted_norms`)."""
    return _Weights(inputs, head, transformed_values(inputs.values([head]), output_projection[[head]]).norm(dim=-1)[0])


def values_of(matrix: Float[Tensor, "query key"]) -> TokenValues:
    """The numbers of a whole matrix between tokens."""
    return _Matrix(matrix)


class _Weights:
    """The weights of a head, each times a number of its key, if there is one."""

    def __init__(self, inputs: AttentionInputs, head: int, factors: Float[Tensor, "key"] | None = None) -> None:
        self._inputs, self._head, self._factors = inputs, head, factors
        self._log_sums: Tensor | None = None

    def part(self, rows: Rows, columns: Rows) -> Float[Tensor, "query key"]:
        if self._log_sums is None:
            self._log_sums = log_sum_exp(self._inputs, [self._head])[0]
        weights = weights_tile(self._inputs, self._head, rows, columns, self._log_sums)
        return weights if self._factors is None else weights * self._factors[columns]

    def maxima(self, row_edges: Sequence[int], column_edges: Sequence[int]) -> Float[Tensor, "block_row block_column"]:
        pooled = pooled_weights(self._inputs, row_edges, column_edges, [self._head], self._factors)
        if pooled.log_sums.size(1) == self._inputs.query.size(1):
            self._log_sums = pooled.log_sums[0]
        return pooled.maxima[0]


@dataclass(frozen=True, eq=False)
class _Matrix:
    values: Float[Tensor, "query key"]

    def part(self, rows: Rows, columns: Rows) -> Float[Tensor, "query key"]:
        return self.values[rows][:, columns]

    def maxima(self, row_edges: Sequence[int], column_edges: Sequence[int]) -> Float[Tensor, "block_row block_column"]:
        down = torch.stack([self.values[start:end].amax(0) for start, end in pairwise(row_edges)])
        return torch.stack([down[:, start:end].amax(1) for start, end in pairwise(column_edges)], 1)


def _positions(axis: Axis) -> Rows:
    """The tokens of an axis, as a slice where they follow one another."""
    run = _run(axis)
    return [*chain(*axis.groups)] if run is None else run


def _run(axis: Axis) -> slice | None:
    """The tokens of an axis that has each by itself, one after the other; None of any other."""
    if not axis.groups or any(len(group) != 1 for group in axis.groups):
        return None
    first, last = axis.groups[0][0], axis.groups[-1][0]
    return slice(first, last + 1) if last - first + 1 == len(axis.groups) else None


def _edges(tokens: slice, size: int) -> list[int]:
    return [*range(tokens.start, tokens.stop, size), tokens.stop]


def _largest(values: Float[Tensor, "row column"], width: int) -> Float[Tensor, "row block"]:
    missing = -values.size(1) % width
    padded = torch.nn.functional.pad(values, (0, missing), value=-torch.inf)
    return padded.view(len(values), -1, width).amax(-1)


def _renumbered(axis: Axis) -> Axis:
    """The same groups, if their tokens are the only ones, in order."""
    ends = list(accumulate(map(len, axis.groups)))
    groups = (tuple(range(end - len(group), end)) for end, group in zip(ends, axis.groups, strict=True))
    return Axis(axis.labels, tuple(groups))
