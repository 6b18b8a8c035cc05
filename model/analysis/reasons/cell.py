"""Find the cell of a trace that is most worth asking about: a page opens on it until a person chooses another.

With a twin it is the largest gain of weight over the twin. Alone it is the weight that the habits of its head expect
least: its mean weights on this key and at this distance, and the same to every key. Special tokens are left out, and so
are sinks, where heads rest that have nothing to do (Gu et al. 2024, "When Attention Sink Emerges in Language Models",
arXiv 2410.10781, §3.2). Of an encoder–decoder only cross-attention is asked: what does it look at as it writes?
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.reasons.score import Question, align, default_rival, stacks_of, unlike
from model.parts.weights import Stack
from model.trace.row_blocks import row_slices
from model.trace.trace import Trace

#: A key that gets more than this share of all rows of a head, on average, is its sink: ε of Gu et al.
SINK: Final = 0.3


def telling_cell(trace: Trace, twin: Trace | None = None) -> Question | None:
    """The cell that is most worth asking about, with its default rival; None if no row has two keys to choose from.

    All weights are derived, twice: of a text of thousands of tokens that takes long. A query that is another token in
    the twin is left out, and a key without a partner there.
    """
    partners = None if twin is None else align(trace, twin)
    found = [
        of_block
        for site in (("decoder.cross",) if "decoder.cross" in trace.sites else trace.sites)
        for layer in range(trace.layers_of(site))
        for of_block in _of_layer(trace, site, layer, twin, partners)
    ]
    if not found:
        return None
    _, cell = max(found, key=lambda each: each[0])
    return replace(cell, rival=default_rival(cell, trace, twin))


def _of_layer(
    trace: Trace, site: str, layer: int, twin: Trace | None, partners: Mapping[Stack, tuple[int, ...]] | None
) -> Iterator[tuple[float, Question]]:
    """How telling the most telling cell of each block of rows is, and this cell."""
    heads, count, keys = trace.inputs[site][layer].shape
    habits = _Habits.of(trace, site, layer)
    asked, seen = (_has_text(trace, tokens) for tokens in (trace.row_tokens(site), trace.axis_tokens(site)[1]))
    rows_there = keys_there = torch.empty(0, dtype=torch.long)
    if twin is not None and partners is not None:
        of_rows, of_keys = stacks_of(site)
        rows_there, keys_there = torch.tensor(partners[of_rows]), torch.tensor(partners[of_keys])
        asked[list(unlike(trace, twin)[of_rows])] = False
        seen &= keys_there >= 0
    for rows in row_slices(0, count, heads * keys):
        weights, allowed = trace.weights(site, layer, rows=rows), trace.mask(site, layer, rows)
        if twin is None:
            expected = habits.expected(rows, allowed)
            surprise = weights * (weights.clamp_min(1e-9) / expected.clamp_min(1e-9)).log()
        else:
            there = twin.weights(site, layer, rows=rows_there[rows].clamp_min(0).tolist())
            surprise = weights - there[:, :, keys_there.clamp_min(0)]
        is_open = asked[rows, None] & seen & allowed & allowed.sum(-1, keepdim=True).gt(1)
        surprise = torch.where(is_open & ~habits.is_sink[:, None], surprise, -torch.inf)
        value, index = surprise.flatten().max(0)
        if bool(value.isfinite()):
            head, row, key = (int(each) for each in torch.unravel_index(index, surprise.shape))
            row += rows.start
            yield float(value), Question(site=site, layer=layer, head=head, row=row, key=key, rival=key)


class _Habits(NamedTuple):
    """Mean weights of the heads of a layer, over the rows that may see the key, or a key so far away."""

    of_key: Float[Tensor, "head key"]
    of_distance: Float[Tensor, "head distance"]
    is_sink: Bool[Tensor, "head key"]

    @classmethod
    def of(cls, trace: Trace, site: str, layer: int) -> "_Habits":
        heads, count, keys = trace.inputs[site][layer].shape
        of_key, times_seen = torch.zeros(heads, keys), torch.zeros(keys)
        of_distance, times_away = torch.zeros(heads, count + keys), torch.zeros(count + keys)
        for rows in row_slices(0, count, heads * keys):
            weights, allowed = trace.weights(site, layer, rows=rows), trace.mask(site, layer, rows).float()
            distance = _distances(rows, allowed).flatten()
            of_key += weights.sum(1)
            times_seen += allowed.sum(0)
            of_distance.index_add_(1, distance, weights.flatten(1))
            times_away.index_add_(0, distance, allowed.flatten())
        is_sink = of_key / count > SINK
        return cls(of_key / times_seen.clamp_min(1), of_distance / times_away.clamp_min(1), is_sink)

    def expected(self, rows: slice, allowed: Bool[Tensor, "row key"]) -> Float[Tensor, "head row key"]:
        """What habits expect: the largest of the means of key and distance, and the same to every key."""
        even = 1 / allowed.sum(-1, keepdim=True).clamp_min(1)
        of_distance = self.of_distance[:, _distances(rows, allowed)]
        return torch.maximum(of_distance, torch.maximum(self.of_key[:, None], even))


def _distances(rows: slice, allowed: Tensor) -> Int[Tensor, "row key"]:
    """Row − key of each cell, counted from 0."""
    count, keys = allowed.shape
    return torch.arange(rows.start, rows.start + count)[:, None] - torch.arange(keys) + keys - 1


def _has_text(trace: Trace, tokens: Sequence[str]) -> Bool[Tensor, "token"]:
    return torch.tensor([token not in trace.special_tokens for token in tokens], dtype=torch.bool)
