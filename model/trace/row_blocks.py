"""Attention of long texts, a block of rows at a time: its log-sum-exp, exact tiles, and maxima of blocks.

The weights of n tokens are n² numbers a head. Nothing here ever holds more than `VALUES_AT_ONCE` of them, twice: each
block of rows is computed from q, k and mask, read off, and overwritten by the next. With the log-sum-exp of its row,
any weight can be computed alone, w_ij = exp(s_ij − lse_i) with lse_i = log Σ_j exp(s_ij): a tile costs its own cells.

Where scores are nothing but QKᵀ · scale and a mask, they are computed into one buffer; whatever else an
`AttentionInputs` may hold (bias, edits, …) goes through its own `scores_and_weights`. Works on any device. Knows
nothing of layers, tokens or pictures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.nn.attention import AttentionInputs, attention_weights
from model.nn.masks import Rows
from model.trace.weights_only import WeightsOnly

#: 8 MiB in float32: large enough for the matrix product, small enough for the caches of a processor.
VALUES_AT_ONCE: Final = 1 << 21
#: What an `AttentionInputs` always has; every other field, at its default, changes nothing.
_PLAIN: Final = frozenset({"query", "key", "value", "mask", "scale"})


@dataclass(frozen=True, eq=False)
class PooledWeights:
    """The largest weight of every block of rows × columns, for each head.

    Attributes:
        maxima: the weights.
        down, across: its row and column within the block; of equal ones the first column, and in it the first row.
    """

    maxima: Float[Tensor, "head block_row block_column"]
    down: Int[Tensor, "head block_row block_column"]
    across: Int[Tensor, "head block_row block_column"]


def row_slices(start: int, stop: int, values_a_row: int) -> Iterator[slice]:
    """Rows in order, so many at once that they have at most `VALUES_AT_ONCE` values, or a single one."""
    step = max(1, VALUES_AT_ONCE // max(1, values_a_row))
    return (slice(first, min(first + step, stop)) for first in range(start, stop, step))


def log_sum_exp(inputs: AttentionInputs, heads: Sequence[int] | None = None) -> Float[Tensor, "head query"]:
    """lse_i = log Σ_j exp(s_ij) of every row, in float32; +∞ for one that may attend to nothing: its weights are 0."""
    chosen = list(range(inputs.num_heads)) if heads is None else list(heads)
    queries, keys = inputs.query.size(1), inputs.key.size(1)
    sums = torch.empty(len(chosen), queries, device=inputs.query.device)
    for some in _head_chunks(len(chosen), min(queries, 64) * keys):
        scores = _Scores(inputs, chosen[some])
        for rows in row_slices(0, queries, scores.num_heads * keys):
            sums[some, rows] = scores.with_sums(rows)[1]
    return sums


def weights_tile(
    inputs: AttentionInputs, head: int, rows: Rows, columns: Rows, log_sums: Float[Tensor, "query"]
) -> Float[Tensor, "row column"]:
    """w_ij = exp(s_ij − lse_i) of one head for these rows and columns, in float32; `log_sums` are its `log_sum_exp`."""
    if not _is_plain(inputs):
        return inputs.scores_and_weights([head], rows).weights[0][:, columns]
    keys = inputs.key[head // (inputs.num_heads // inputs.key.size(0)), columns].float()
    allowed = inputs.mask.rows(rows)[0][:, columns]
    scores = attention_weights(inputs.query[head, rows].float(), keys, scale=inputs.scale, mask=allowed).scores
    return (scores - log_sums[rows][:, None]).exp()


def pooled_weights(
    inputs: AttentionInputs,
    row_edges: Sequence[int],
    column_edges: Sequence[int],
    heads: Sequence[int] | None = None,
) -> PooledWeights:
    """The largest weight of each block, over all heads or those named, without ever holding all weights.

    max exp(s_ij − lse_i) = exp(max (s_ij − lse_i)): only the maxima are exponentiated. Edges are where blocks begin,
    ascending from 0, and at last where they end.
    """
    chosen = list(range(inputs.num_heads)) if heads is None else list(heads)
    device, keys = inputs.query.device, inputs.key.size(1)
    shape = len(chosen), len(row_edges) - 1, len(column_edges) - 1
    maxima = torch.full(shape, -torch.inf, device=device)
    down, across = (torch.zeros(shape, dtype=torch.long, device=device) for _ in range(2))
    columns = _block_columns(column_edges).to(device)
    tallest = max(end - start for start, end in pairwise(row_edges))
    for some in _head_chunks(len(chosen), tallest * keys):
        scores = _Scores(inputs, chosen[some])
        for block, (start, stop) in enumerate(pairwise(row_edges)):
            for rows in row_slices(start, stop, scores.num_heads * keys):
                logs = scores.log_weights(rows)
                # First over rows, then over the columns of each block; then the row of each maximum.
                largest, offset = logs.amax(1)[:, columns].max(-1)
                column = columns[:, 0] + offset
                row = logs.gather(2, column[:, None, :].expand(-1, logs.size(1), -1)).argmax(1) + (rows.start - start)
                is_larger = largest > maxima[some, block]
                maxima[some, block] = torch.where(is_larger, largest, maxima[some, block])
                down[some, block] = torch.where(is_larger, row, down[some, block])
                across[some, block] = torch.where(is_larger, offset, across[some, block])
    return PooledWeights(maxima.exp_(), down, across)


def mean_over_heads(inputs: AttentionInputs | WeightsOnly) -> Float[Tensor, "query key"]:
    """The weights averaged over heads: one n × n array, made of blocks of rows."""
    heads, queries, keys = inputs.shape
    return torch.cat([inputs.weights(rows=rows).mean(0) for rows in row_slices(0, queries, heads * keys)])


class _Scores:
    """Blocks of scores of some heads of an attention site, each overwritten by the next."""

    def __init__(self, inputs: AttentionInputs, heads: Sequence[int]) -> None:
        self.num_heads = len(heads)
        self._inputs, self._heads = inputs, list(heads)
        self._is_plain = _is_plain(inputs)
        if self._is_plain:
            group = inputs.num_heads // inputs.key.size(0)
            self._query = inputs.query[self._heads].float() * inputs.scale
            self._key = inputs.key[[head // group for head in heads]].float().transpose(1, 2)
            self._buffers = torch.empty(2, 0, device=inputs.query.device)

    def with_sums(self, rows: slice) -> tuple[Float[Tensor, "head row key"], Float[Tensor, "head row"]]:
        """The scores of these rows, −∞ where masked, and their log-sum-exp; both are gone after the next call."""
        if not self._is_plain:
            scores, weights = self._inputs.scores_and_weights(self._heads, rows)
            # Whatever the sum runs over (a sink, perhaps), the weight of the largest score tells it.
            largest, column = scores.max(-1)
            known = weights.gather(-1, column[..., None])[..., 0]
            return scores, torch.where(known > 0, largest - known.log(), torch.inf)
        query = self._query[:, rows]
        shape = self.num_heads, query.size(1), self._key.size(2)
        scores, exponentials = (buffer[: shape[0] * shape[1] * shape[2]].view(shape) for buffer in self._room(shape))
        torch.bmm(query, self._key, out=scores)
        allowed = self._inputs.mask.rows(rows)
        if not bool(allowed.all()):
            scores.masked_fill_(~allowed, -torch.inf)
        largest = scores.amax(-1, keepdim=True).clamp_min_(torch.finfo(scores.dtype).min)
        total = torch.sub(scores, largest, out=exponentials).exp_().sum(-1)
        return scores, torch.where(total > 0, total.log() + largest[..., 0], torch.inf)

    def log_weights(self, rows: slice) -> Float[Tensor, "head row key"]:
        """log w_ij = s_ij − lse_i of these rows; −∞ where masked."""
        scores, sums = self.with_sums(rows)
        return scores.sub_(sums[..., None])

    def _room(self, shape: tuple[int, int, int]) -> Tensor:
        needed = shape[0] * shape[1] * shape[2]
        if self._buffers.size(1) < needed:
            self._buffers = torch.empty(2, needed, device=self._query.device)
        return self._buffers


def _is_plain(inputs: AttentionInputs) -> bool:
    """Whether scores are QKᵀ · scale and a mask, and nothing else."""
    return all(getattr(inputs, field.name) is field.default for field in fields(inputs) if field.name not in _PLAIN)


def _head_chunks(count: int, values_a_head: int) -> Iterator[slice]:
    """Heads in order, so many at once that a block of rows of theirs is not too large."""
    step = max(1, VALUES_AT_ONCE // max(1, values_a_head))
    return (slice(first, min(first + step, count)) for first in range(0, count, step))


def _block_columns(edges: Sequence[int]) -> Int[Tensor, "block column"]:
    """The columns of each block; one that is shorter than the longest repeats its last column."""
    longest = max(end - start for start, end in pairwise(edges))
    return torch.tensor([[min(start + i, end - 1) for i in range(longest)] for start, end in pairwise(edges)])
