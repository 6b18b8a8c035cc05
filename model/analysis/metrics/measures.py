"""Measures of attention other than the weights: value-weighted norms, rollout, and parts of long texts.

A weight says how a head divides its attention, not how long the vector is that it multiplies. Kobayashi et al. 2020
("Attention is Not Only a Weight: Analyzing Transformers with Vector Norms", §2) therefore measure ‖α_ij f(x_j)‖.

Rollout follows attention through all layers up to one, heads averaged. Abnar & Zuidema 2020 ("Quantifying Attention
Flow in Transformers", §3): in a layer, half of a position comes from what it attends to and half stays, through the
residual connection; a path through the layers multiplies these shares.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from typing import Final, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.nn.attention import AttentionInputs
from model.nn.masks import Rows
from model.trace.axes import Axis, between
from model.trace.row_blocks import log_sum_exp, mean_over_heads, pooled_weights, row_slices, weights_tile
from model.trace.trace import Trace


def transformed_values(
    value: Float[Tensor, "*batch head key d_v"], output_projection: Float[Tensor, "head d_v d_model"]
) -> Float[Tensor, "*batch head key d_model"]:
    """f(x_j) = (x_j W_V + b_V) W_O of each head: the vector that it adds for a token, before weighting.

    The value bias is included, as in the paper; the output bias belongs to no token and is left out.
    """
    return value @ output_projection


def value_weighted_norms(
    weights: Float[Tensor, "*batch head query key"],
    value: Float[Tensor, "*batch head key d_v"],
    output_projection: Float[Tensor, "head d_v d_model"],
) -> Float[Tensor, "*batch head query key"]:
    """‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖, for weights are never negative. Not bounded by 1; rows do not sum to 1."""
    lengths: Tensor = transformed_values(value, output_projection).norm(dim=-1)
    return weights * lengths[..., None, :]


def norm_shares(norms: Float[Tensor, "head query key"]) -> Float[Tensor, "head query key"]:
    """‖α_ij f(x_j)‖ / Σ_k ‖α_ik f(x_k)‖: norms as shares of their row, for metrics of weights; 0 where all are 0."""
    totals = norms.sum(dim=-1, keepdim=True)
    return norms / totals.masked_fill(totals == 0, 1.0)


def with_residual(weights: Float[Tensor, "*batch position position"]) -> Float[Tensor, "*batch position position"]:
    """Ã = ½ A + ½ I, with rows that sum to 1."""
    mixed = 0.5 * weights + 0.5 * torch.eye(weights.size(-1), device=weights.device)
    return mixed / mixed.sum(dim=-1, keepdim=True)


def attention_rollouts(
    weights: Iterable[Float[Tensor, "*batch position position"]],
) -> Iterator[Float[Tensor, "*batch position position"]]:
    """R = Ã_l … Ã_2 Ã_1 for each layer l: the share of each input position in each position after that layer.

    `weights` are of each layer of one stack's self-attention, averaged over heads, first layer first. Of those that are
    made one by one, no two are held.
    """
    return accumulate(map(with_residual, weights), lambda below, mixed: mixed @ below)


def rollouts(trace: Trace, site: str) -> Iterator[Float[Tensor, "query key"]]:
    """Rollout of a site up to each of its layers, first layer first; of cross-attention, each over the whole encoder.

    The paper defines rollout for a stack that attends to itself. One layer's cross-attention is its last step, R = A
    R_encoder: without ½ I, for a target row is no position of the source. Raises a TraceError if there is no such site.
    """
    trace.layers_of(site)  # says so where there is no such site
    means = map(mean_over_heads, trace.inputs[site])
    if site != "decoder.cross":
        return attention_rollouts(means)
    *_, encoder = rollouts(trace, "encoder.self")
    return (mean @ encoder for mean in means)


def rollout_at(trace: Trace, site: str, layer: int) -> Float[Tensor, "query key"]:
    """Rollout of a site up to one layer, as `rollouts`. Raises a TraceError if there is no such site or layer."""
    trace.mask(site, layer, [])  # says so where there is no such site or layer
    return next(islice(rollouts(trace, site), layer, None))


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
    """The numbers of one head, or of a rollout, between the tokens or words of two axes: any part, never the whole.

    For a text of thousands of tokens the whole would be gigabytes.
    """

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
