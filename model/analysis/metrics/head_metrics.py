"""What a head does, in one number: how sharply it looks, how far, and at which keys. Knows nothing of layers or pages.

Rows i are queries and columns j keys; α_ij is a weight, the model's own. Rows in which nothing else was possible, such
as the decoder's first, which sees only itself, say nothing about a head and are left out of every mean. A figure for
which no row is left is NaN.

`row_figures` keeps the rows, so that a whole corpus can be averaged; `head_figures` is their mean over one sentence,
and `streamed_head_figures` the same for a long one, of which it never holds more than a block of rows.

Sources: Vig & Belinkov 2019, "Analyzing the Structure of Attention in a Transformer Language Model" (entropy, mean
distance); Clark et al. 2019, "What Does BERT Look At?", §3.1–3.3 (neighbours, separators and punctuation, entropy);
Kovaleva et al. 2019, "Revealing the Dark Secrets of BERT" (diagonal heads).
"""

import math
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.nn.attention import AttentionInputs
from model.trace.row_blocks import row_slices

SHIFTS = {"previous": -1, "same": 0, "next": 1}
"""Figure → how many places after its query the key stands."""

#: How far from the diagonal, in keys, still counts as on it.
DIAGONAL_REACH = 1.0


class RowFigure(NamedTuple):
    """A figure of each head in each row.

    Attributes:
        values: by head and row.
        counts: which rows say something about a head; the others hold no figure.
    """

    values: Float[Tensor, "head query"]
    counts: Bool[Tensor, "query"]

    def mean(self) -> Float[Tensor, "head"]:
        """The mean over the rows that count; NaN if none does."""
        return self.values[:, self.counts].mean(-1)


def head_figures(
    weights: Float[Tensor, "head query key"],
    mask: Bool[Tensor, "query key"],
    key_tokens: Sequence[str],
    *,
    is_self: bool,
) -> dict[str, Float[Tensor, "head"]]:
    """Every figure of every head, by name.

    Args:
        weights: of the heads of one layer.
        mask: True where a query may look at a key.
        key_tokens: one a key.
        is_self: whether queries and keys are the same tokens; if not, "previous", "same" and "next" mean nothing.
    """
    return {name: figure.mean() for name, figure in row_figures(weights, mask, key_tokens, is_self=is_self).items()}


def streamed_head_figures(
    inputs: AttentionInputs, key_tokens: Sequence[str], *, is_self: bool
) -> dict[str, Float[Tensor, "head"]]:
    """`head_figures` of all heads of one layer, from a block of rows at a time."""
    queries, keys = inputs.query.size(1), inputs.key.size(1)
    blocks = []
    for rows in row_slices(0, queries, inputs.num_heads * keys):
        weights, mask = inputs.scores_and_weights(rows=rows).weights, inputs.mask.rows(rows)[0]
        places = torch.arange(queries)[rows]
        blocks.append(_figures_of_rows(weights, mask, key_tokens, places, queries, is_self=is_self))
    return {
        name: RowFigure(
            torch.cat([block[name].values for block in blocks], -1), torch.cat([block[name].counts for block in blocks])
        ).mean()
        for name in blocks[0]
    }


def row_figures(
    weights: Float[Tensor, "head query key"],
    mask: Bool[Tensor, "query key"],
    key_tokens: Sequence[str],
    *,
    is_self: bool,
) -> dict[str, RowFigure]:
    """Every figure of every head in each row, by name; arguments as for `head_figures`."""
    places = torch.arange(len(mask))
    return _figures_of_rows(weights, mask, key_tokens, places, len(mask), is_self=is_self)


def _figures_of_rows(
    weights: Float[Tensor, "head row key"],
    mask: Bool[Tensor, "row key"],
    key_tokens: Sequence[str],
    places: Int[Tensor, "row"],
    queries: int,
    *,
    is_self: bool,
) -> dict[str, RowFigure]:
    """The figures of some rows: those at these places of as many queries."""
    rows, keys = mask.shape
    off, column = from_diagonal(queries, keys, places), torch.arange(keys).expand(rows, keys)
    is_mark = torch.tensor([is_punctuation(token) for token in key_tokens])
    there = {
        name: shifted(places, keys, shift) if is_self else torch.zeros(rows, keys, dtype=torch.bool)
        for name, shift in SHIFTS.items()
    }
    there |= {"first": column == 0, "last": column == keys - 1, "diagonal": off <= DIAGONAL_REACH}
    there["punctuation"] = is_mark.expand(rows, keys)
    # One product for all of them: the weights of a long text are read once.
    factors = torch.stack([off, *there.values()], dim=-1).to(weights.dtype)
    distance, *shares = torch.bmm(weights.transpose(0, 1), factors).permute(2, 1, 0)
    figures = {"entropy": row_entropy(weights, mask), "distance": RowFigure(distance, has_choice(mask))}
    for share, (name, keys_there) in zip(shares, there.items(), strict=True):
        figures[name] = RowFigure(share, may_choose(mask, keys_there))
    return figures


def entropy(weights: Float[Tensor, "head query key"], mask: Bool[Tensor, "query key"]) -> Float[Tensor, "head"]:
    """H = mean over rows i of −Σ_j α_ij log₂ α_ij, in bits: 0 for one key alone, log₂ k for k keys evenly."""
    return row_entropy(weights, mask).mean()


def mean_distance(weights: Float[Tensor, "head query key"], mask: Bool[Tensor, "query key"]) -> Float[Tensor, "head"]:
    """D = mean over rows i of Σ_j α_ij |j − d_i|, in keys, with d_i from `from_diagonal`: |j − i| in self-attention."""
    values = torch.einsum("hqk,qk->hq", weights, from_diagonal(*mask.shape))
    return RowFigure(values, has_choice(mask)).mean()


def row_entropy(weights: Float[Tensor, "head query key"], mask: Bool[Tensor, "query key"]) -> RowFigure:
    """−Σ_j α_ij log₂ α_ij, in bits."""
    return RowFigure(torch.special.entr(weights).sum(-1) / math.log(2), has_choice(mask))


def row_share(
    weights: Float[Tensor, "head query key"], mask: Bool[Tensor, "query key"], there: Bool[Tensor, "query key"]
) -> RowFigure:
    """S_i = Σ_j α_ij [there_ij]: which part of its weight a head gives to these keys, from 0 to 1."""
    return RowFigure(torch.einsum("hqk,qk->hq", weights, there.to(weights.dtype)), may_choose(mask, there))


def may_choose(mask: Bool[Tensor, "query key"], there: Bool[Tensor, "query key"]) -> Bool[Tensor, "query"]:
    """Rows that may look at one of these keys and also at another: their share says which they prefer."""
    return (mask & there).any(-1) & (mask & ~there).any(-1)


def has_choice(mask: Bool[Tensor, "query key"]) -> Bool[Tensor, "query"]:
    """Rows that may look at more than one key."""
    return mask.sum(-1) > 1


def shifted(places: Int[Tensor, "row"], keys: int, shift: int) -> Bool[Tensor, "row key"]:
    """True where j = i + shift, for the rows i at these places."""
    return torch.arange(keys)[None, :] == places[:, None] + shift


def from_diagonal(queries: int, keys: int, places: Int[Tensor, "row"] | None = None) -> Float[Tensor, "row key"]:
    """|j − d_i| with d_i = i · (keys − 1) / (queries − 1): how far a key is from the diagonal, counted in keys.

    For the rows i at these places, or for all of them.

    The diagonal leads from first query and first key to last query and last key. With as many queries as keys d_i = i;
    otherwise it compares places relative to the lengths of the two sentences. A single query is at the first key.
    """
    slope = (keys - 1) / (queries - 1) if queries > 1 else 0.0
    rows = torch.arange(queries) if places is None else places
    return (torch.arange(keys)[None, :] - rows[:, None] * slope).abs()


def is_punctuation(token: str) -> bool:
    """Whether a piece holds punctuation (Unicode's categories P…) and nothing else but the "▁" of a new word."""
    signs = token.replace("▁", "")
    return bool(signs) and all(unicodedata.category(sign).startswith("P") for sign in signs)
