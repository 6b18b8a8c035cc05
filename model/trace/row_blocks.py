"""Attention of long texts, a block of rows at a time: its log-sum-exp, exact tiles, and maxima of blocks.

The weights of n tokens are n² numbers a head. Nothing here ever holds more than `VALUES_AT_ONCE` of them, twice: each
block of rows is computed from q, k and mask, read off while the processor's cache still holds it, and overwritten by
the next. Keys that a mask forbids to all its rows are left out. With the log-sum-exp of its row, any weight can be
computed alone, w_ij = exp(s_ij − lse_i) with lse_i = log Σ_j exp(s_ij): a tile costs its own cells.

Scores of dot products, capped, biased and masked or not, are computed into one buffer; other score functions and edits
go through `AttentionInputs.scores_and_weights`. Works on any device. Knows nothing of layers, tokens or pictures.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.nn.attention import AttentionInputs, WeightsOnly, attention_weights
from model.nn.masks import Rows
from model.nn.score_functions import DotProduct

#: 8 MiB in float32: rows enough for a fast product with two heads of a long text, and few enough for the caches.
VALUES_AT_ONCE: Final = 1 << 21
#: Heads at once: each has a core to itself.
HEADS_AT_ONCE: Final = 2


@dataclass(frozen=True, eq=False)
class PooledWeights:
    """The largest weight of every block of rows × columns, for each head."""

    maxima: Float[Tensor, "head block_row block_column"]
    #: down, across: row and column of each within its block; of equal ones the first column, and in it the first row.
    down: Int[Tensor, "head block_row block_column"]
    across: Int[Tensor, "head block_row block_column"]
    log_sums: Float[Tensor, "head row"]  #: lse_i of the rows of all blocks, as `log_sum_exp`


def row_slices(start: int, stop: int, values_a_row: int) -> Iterator[slice]:
    """Rows in order, so many at once that they have at most `VALUES_AT_ONCE` values, or a single one."""
    step = max(1, VALUES_AT_ONCE // max(1, values_a_row))
    return (slice(first, min(first + step, stop)) for first in range(start, stop, step))


def log_sum_exp(inputs: AttentionInputs, heads: Sequence[int] | None = None) -> Float[Tensor, "head query"]:
    """lse_i = log Σ_j exp(s_ij) of every row, in float32.

    That of a row that may attend to nothing is any number above −∞: its scores are −∞, and its weights 0.
    """
    chosen = list(range(inputs.num_heads)) if heads is None else list(heads)
    if inputs.log_sums is not None:
        return inputs.log_sums[chosen]
    sums = torch.empty(len(chosen), inputs.query.size(1), device=inputs.query.device)
    for some in _head_chunks(len(chosen)):
        scores = _Scores(inputs, chosen[some])
        for rows in scores.row_slices(0, sums.size(1)):
            sums[some, rows] = scores.with_sums(rows)[1]
    return sums


def weights_tile(
    inputs: AttentionInputs, head: int, rows: Rows, columns: Rows, log_sums: Float[Tensor, "query"]
) -> Float[Tensor, "row column"]:
    """w_ij = exp(s_ij − lse_i) of one head for these rows and columns, in float32; `log_sums` are its `log_sum_exp`."""
    if not _is_direct(inputs):
        return inputs.scores_and_weights([head], rows).weights[0][:, columns]
    key = inputs.key
    keys = key[head // (inputs.num_heads // len(key)), columns].float()
    allowed = inputs.mask.rows(rows)[0][:, columns]
    bias = inputs.bias_rows([head], rows)
    scores = attention_weights(
        inputs.query[head, rows].float(),
        keys,
        scale=inputs.scale,
        mask=allowed,
        bias=None if bias is None else bias[0][:, columns],
        softcap=inputs.softcap,
    ).scores
    return (scores - log_sums[rows][:, None]).exp()


def pooled_weights(
    inputs: AttentionInputs,
    row_edges: Sequence[int],
    column_edges: Sequence[int],
    heads: Sequence[int] | None = None,
    factors: Float[Tensor, "key"] | None = None,
) -> PooledWeights:
    """The largest weight of each block, over all heads or those named, without ever holding all weights.

    max exp(s_ij − lse_i) = exp(max (s_ij − lse_i)): only the maxima are exponentiated.

    Args:
        inputs: what weights are computed from.
        row_edges, column_edges: where blocks begin, ascending, and at last where they end.
        heads: all where none are named.
        factors: what each weight of a key is multiplied by, above 0; then the largest product is meant.
    """
    chosen = list(range(inputs.num_heads)) if heads is None else list(heads)
    device, keys = inputs.query.device, inputs.shape[2]
    shape = len(chosen), len(row_edges) - 1, len(column_edges) - 1
    maxima = torch.full(shape, -torch.inf, device=device)
    down, across = (torch.zeros(shape, dtype=torch.long, device=device) for _ in range(2))
    log_sums = torch.empty(len(chosen), row_edges[-1] - row_edges[0], device=device)
    columns = _block_columns(column_edges).to(device)
    log_factors = None if factors is None else factors.float().log()
    for some in _head_chunks(len(chosen)):
        scores = _Scores(inputs, chosen[some])
        tops = torch.empty(scores.num_heads, keys, device=device)
        for rows in scores.row_slices(row_edges[0], row_edges[-1]):
            logs, sums, seen = scores.with_sums(rows)
            logs.sub_(sums[..., None])
            log_sums[some, rows.start - row_edges[0] : rows.stop - row_edges[0]] = sums
            if log_factors is not None:
                logs += log_factors[seen]
            for block, part in _blocks_within(row_edges, rows):
                values = logs[:, part]
                # First over rows, then over the columns of each block; then the row of each maximum.
                tops.fill_(-torch.inf)
                torch.amax(values, 1, out=tops[:, seen])
                largest, offset = tops[:, columns].max(-1)
                column = (columns[:, 0] + offset - seen.start).clamp_(0, values.size(2) - 1)
                row = values.gather(2, column[:, None, :].expand(-1, values.size(1), -1)).argmax(1)
                row += rows.start + part.start - row_edges[block]
                is_larger = largest > maxima[some, block]
                maxima[some, block] = torch.where(is_larger, largest, maxima[some, block])
                down[some, block] = torch.where(is_larger, row, down[some, block])
                across[some, block] = torch.where(is_larger, offset, across[some, block])
    return PooledWeights(maxima.exp_(), down, across, log_sums)


def mean_over_heads(inputs: AttentionInputs | WeightsOnly) -> Float[Tensor, "query key"]:
    """The weights averaged over heads: one n × n array, made of blocks of rows."""
    heads, queries, keys = inputs.shape
    # A copy has the keys, where they would be made for each block.
    inputs = replace(inputs)
    return torch.cat([inputs.weights(rows=rows).mean(0) for rows in row_slices(0, queries, heads * keys)])


class _Scores:
    """Blocks of scores of some heads of an attention site, each overwritten by the next."""

    def __init__(self, inputs: AttentionInputs, heads: Sequence[int]) -> None:
        self.num_heads = len(heads)
        self._inputs, self._heads = inputs, list(heads)
        self._is_direct = _is_direct(inputs)
        key = inputs.key
        group = inputs.num_heads // len(key)
        self._query = inputs.query[self._heads].float()
        self._key = key[[head // group for head in heads]].float().transpose(1, 2)
        self._buffers = torch.empty(2, 0, device=inputs.query.device)

    def row_slices(self, start: int, stop: int) -> Iterator[slice]:
        """Rows in order, so many at once that they are not too many values."""
        return row_slices(start, stop, self.num_heads * self._key.size(2))

    def with_sums(self, rows: slice) -> tuple[Float[Tensor, "head row key"], Float[Tensor, "head row"], slice]:
        """The scores of these rows over the keys that they reach, −∞ where masked, their log-sum-exp, and these keys.

        The scores are gone after the next call.
        """
        if not self._is_direct:
            scores, weights = self._inputs.scores_and_weights(self._heads, rows)
            # Whatever the sum runs over (a sink, perhaps), the weight of the largest score tells it.
            largest, column = scores.max(-1)
            known = weights.gather(-1, column[..., None])[..., 0]
            return scores, torch.where(known > 0, largest - known.log(), torch.inf), slice(0, None)
        scores, room, seen = self._direct(rows)
        if self._inputs.log_sums is not None:
            return scores, self._inputs.log_sums[self._heads][:, rows], seen
        largest = scores.amax(-1, keepdim=True).clamp_min_(torch.finfo(scores.dtype).min)
        total = torch.sub(scores, largest, out=room).exp_().sum(-1)
        if (sinks := self._inputs.sinks_of(self._heads)) is not None:
            total += (sinks - largest).exp()[..., 0]
        return scores, torch.where(total > 0, total.log() + largest[..., 0], torch.inf), seen

    def _direct(self, rows: slice) -> tuple[Tensor, Tensor, slice]:
        """The scores of these rows over the keys that they reach, room for as many numbers, and these keys."""
        inputs, seen = self._inputs, self._inputs.mask.reach(rows)
        query, key = self._query[:, rows], self._key[:, :, seen]
        shape = self.num_heads, query.size(1), key.size(2)
        scores, room = (buffer[: prod(shape)].view(shape) for buffer in self._room(shape))
        torch.baddbmm(scores, query, key, beta=0, alpha=inputs.scale, out=scores)
        if inputs.softcap is not None:
            scores.div_(inputs.softcap).tanh_().mul_(inputs.softcap)
        if (bias := inputs.bias_rows(self._heads, rows)) is not None:
            scores += bias[..., seen]
        if inputs.mask.forbids_any:
            scores.masked_fill_(~inputs.mask.rows(rows, seen), -torch.inf)
        return scores, room, seen

    def _room(self, shape: tuple[int, int, int]) -> Tensor:
        if self._buffers.size(1) < prod(shape):
            self._buffers = torch.empty(2, prod(shape), device=self._query.device)
        return self._buffers


def _is_direct(inputs: AttentionInputs) -> bool:
    """Whether scores are dot products, capped, biased and masked or not."""
    return isinstance(inputs.score, DotProduct) and not inputs.edits


def _head_chunks(count: int) -> Iterator[slice]:
    """Heads in order, a few at once."""
    return (slice(first, first + HEADS_AT_ONCE) for first in range(0, count, HEADS_AT_ONCE))


def _blocks_within(edges: Sequence[int], rows: slice) -> Iterator[tuple[int, slice]]:
    """The blocks that have some of these rows, and which of these rows, counted from the first."""
    for block in range(bisect_right(edges, rows.start) - 1, bisect_left(edges, rows.stop)):
        yield block, slice(max(0, edges[block] - rows.start), edges[block + 1] - rows.start)


def _block_columns(edges: Sequence[int]) -> Int[Tensor, "block column"]:
    """The columns of each block; one that is shorter than the longest repeats its last column."""
    longest = max(end - start for start, end in pairwise(edges))
    return torch.tensor([[min(start + i, end - 1) for i in range(longest)] for start, end in pairwise(edges)])
