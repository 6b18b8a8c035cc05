"""All figures of the heads of one attention site for one sentence of a corpus, row by row. Knows nothing of models.

To those of `model.analysis.metrics.head_metrics` it adds

- confidence: the largest weight of a row (Voita et al. 2019, "Analyzing Multi-Head Self-Attention", §4), with </s> left
  out as a query and as a key, for it is no word;
- induction, in the decoder's self-attention: where a token was written before, the weight on what followed it then
  (Olsson et al. 2022, "In-context Learning and Induction Heads": prefix matching);

and each of them once more, as "norm_…", with the shares of value-weighted norms (Kobayashi et al. 2020) for weights.
"""

from collections.abc import Sequence
from typing import Final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.metrics.head_metrics import RowFigure, has_choice, row_figures, row_share

FIGURES: Final = (
    "entropy",
    "distance",
    "confidence",
    "previous",
    "same",
    "next",
    "first",
    "last",
    "diagonal",
    "punctuation",
    "induction",
)
NORM: Final = "norm_"
"""Prefix of a figure that is read off norms."""


def site_figures(
    shares: Float[Tensor, "head query key"],
    mask: Bool[Tensor, "query key"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    site: str,
    end: str,
) -> dict[str, RowFigure]:
    """The figures named in `FIGURES`; a figure that means nothing at this site counts no row.

    Args:
        shares: weights or norm shares, one row for each query; all layers of the site may stand side by side.
        mask: True where a query may look at a key.
        query_tokens, key_tokens: one for each.
        site: for example "decoder.self".
        end: how the end of a sentence is spelled.
    """
    figures = row_figures(shares, mask, key_tokens, is_self=site.endswith(".self"))
    figures["confidence"] = row_confidence(shares, mask, _is(query_tokens, end), _is(key_tokens, end))
    after = after_earlier_copy(key_tokens) if site == "decoder.self" else torch.zeros_like(mask)
    figures["induction"] = row_share(shares, mask, after)
    return {name: figures[name] for name in FIGURES}


def row_confidence(
    shares: Float[Tensor, "head query key"],
    mask: Bool[Tensor, "query key"],
    ends_query: Bool[Tensor, "query"],
    ends_key: Bool[Tensor, "key"],
) -> RowFigure:
    """max_j α_ij over the keys j that are not the end of a sentence, in the rows i that are not.

    Rows count that may look at more than one key.
    """
    values = shares.masked_fill(ends_key, 0.0).amax(-1)
    return RowFigure(values, has_choice(mask) & ~ends_query)


def after_earlier_copy(tokens: Sequence[str]) -> Bool[Tensor, "query key"]:
    """True where key j < i comes right after an earlier copy of the token at i: token j − 1 is token i."""
    numbers: dict[str, int] = {}
    ids: Int[Tensor, " token"] = torch.tensor([numbers.setdefault(token, len(numbers)) for token in tokens])
    follows = torch.zeros(len(tokens), len(tokens), dtype=torch.bool)
    follows[:, 1:] = ids[:, None] == ids[None, :-1]
    return follows.tril(-1)


def _is(tokens: Sequence[str], sought: str) -> Bool[Tensor, " token"]:
    return torch.tensor([token == sought for token in tokens])
