"""Derive one row of attention weights step by step, from query and keys to what the head adds to the output.

The equation itself is `model.nn.attention.attention_weights`, here with the scaling or the mask left out when asked to.
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.errors import TraceError, said
from model.nn.attention import AttentionInputs, attention_weights, entropy_bits

#: Query rows whose dot products are held at once while their spread is measured.
ROWS_AT_ONCE: Final = 512


@dataclass(frozen=True, eq=False, kw_only=True)
class DerivedRow:
    """One query row of one head, step by step (§3.2.1, eq. 1), in float32."""

    query: Float[Tensor, "d_k"]  #: q
    #: keys, values: k and v of every key, those of the head's group where heads share them.
    keys: Float[Tensor, "key d_k"]
    values: Float[Tensor, "key d_v"]
    #: whether the model's mask lets this row see the key, also when the row was derived without it.
    allowed: Bool[Tensor, "key"]
    #: q_i · k_ji, whose sums over i are `dots`; with another score function, its terms.
    products: Float[Tensor, "key d_k"]
    dots: Float[Tensor, "key"]  #: q · k_j, or what that function gives
    scale: float  #: what the dot products were multiplied by, 1/√d_k in the paper, 1 without scaling
    scaled: Float[Tensor, "key"]  #: dots · scale, plus the bias where there is one, before the mask
    #: the same with −∞ where the mask, if it was used, cuts off; in a row that was edited, what the edit left.
    scores: Float[Tensor, "key"]
    shares: Float[Tensor, "key"]  #: exp(score − largest score), before they are divided by their sum; 0 where cut off
    weights: Float[Tensor, "key"]  #: softmax of the scores, one for each key
    weighted_values: Float[Tensor, "key d_v"]  #: weight · v of every key
    head_output: Float[Tensor, "d_v"]  #: their sum

    @property
    def entropy(self) -> float:
        """Entropy of the weights in bits: 0 when one key has all, log₂ n when n keys share evenly."""
        return float(entropy_bits(self.weights))

    @property
    def max_entropy(self) -> float:
        """log₂ of the number of keys that are not cut off, in bits; 0 if all are."""
        return math.log2(max(1, int((~self.scores.isneginf()).sum())))


@dataclass(frozen=True)
class DotProductSpread:
    """Standard deviation of a head's q · k before and after scaling, over all pairs that the mask allows."""

    before: float
    after: float
    pairs: int


def derive_row(inputs: AttentionInputs, head: int, row: int, *, scaled: bool, masked: bool) -> DerivedRow:
    """Every intermediate of weights = softmax(q·kᵀ · scale (+ bias), masked) and output = weights · v, for one row.

    Not `scaled` or not `masked`, it is what the model would have computed from the same q, k and v. Raises a TraceError
    if there is no such query head or row (from 0).
    """
    _check(said("Heads"), head, inputs.num_heads)
    _check(said("Query rows"), row, inputs.query.size(1))
    query = inputs.query[head, row].float()
    keys, values = (_of_head(inputs, shared, head) for shared in (inputs.key, inputs.value))
    biases = inputs.bias_rows([head], [row])
    bias = None if biases is None else biases[0]
    scale = inputs.scale if scaled else 1.0
    allowed = inputs.mask.rows([row])[0]
    mask, cap, sinks = allowed if masked else None, inputs.softcap, inputs.sinks_of([head])
    asking, asked, score = query[None, None], keys[None], inputs.score.of_heads([head])
    before_mask, _ = attention_weights(asking, asked, scale=scale, score=score, bias=bias, softcap=cap)
    derived = attention_weights(asking, asked, scale=scale, score=score, bias=bias, mask=mask, softcap=cap, sinks=sinks)
    scores, weights = (of_head[0] for of_head in inputs.edited(derived, [head], [row]))
    weighted_values = weights[0, :, None] * values
    return DerivedRow(
        query=query,
        keys=keys,
        values=values,
        allowed=allowed[0],
        products=score.terms(asking, asked)[0, 0],
        dots=score.scores(asking, asked)[0, 0],
        scale=scale,
        scaled=before_mask[0, 0],
        scores=scores[0],
        shares=(scores[0] - scores[0].max()).exp().nan_to_num(0.0),
        weights=weights[0],
        weighted_values=weighted_values,
        head_output=weighted_values.sum(0),
    )


def head_parts(
    inputs: AttentionInputs, row: int, output_projection: Float[Tensor, "head d_v d_model"]
) -> Float[Tensor, "head d_model"]:
    """What each head adds to the output of its site in one query row: its output times its own rows of W_O.

    Concat(head_1 … head_h) W_O (§3.2.2) is the sum of these over the heads; only the bias b_O comes on top. Raises a
    TraceError if there is no such row.
    """
    _check(said("Query rows"), row, inputs.query.size(1))
    return torch.einsum("hv,hvm->hm", inputs.head_output(rows=[row])[:, 0], output_projection)


def dot_product_spread(inputs: AttentionInputs, head: int) -> DotProductSpread:
    """Standard deviation of a head's q·k (or other scores) before and after scaling.

    Were the components of q and k independent, with mean 0 and variance 1, it would be √d_k before and 1 after (§3.2.1,
    footnote 4). Raises a TraceError if there is no such head.
    """
    _check(said("Heads"), head, inputs.num_heads)
    keys, score = _of_head(inputs, inputs.key, head)[None], inputs.score.of_heads([head])
    count, mean, squares = 0, 0.0, 0.0
    # Merged block by block (Chan, Golub & LeVeque 1979), so that nothing n × n is held for a long text.
    for first in range(0, inputs.query.size(1), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        dots = score.scores(inputs.query[[head], rows].float(), keys)[0][inputs.mask.rows(rows)[0]].double()
        if not len(dots):
            continue
        shift, total = float(dots.mean()) - mean, count + len(dots)
        squares += float(dots.var(correction=0)) * len(dots) + shift**2 * count * len(dots) / total
        mean += shift * len(dots) / total
        count = total
    before = math.sqrt(squares / count) if count else 0.0
    return DotProductSpread(before=before, after=before * inputs.scale, pairs=count)


def _of_head(inputs: AttentionInputs, shared: Tensor, head: int) -> Tensor:
    """The keys or values that a query head uses: with fewer of them than query heads, each serves a group."""
    return shared[head // (inputs.num_heads // shared.size(0))].float()


def _check(what: str, asked: int, count: int) -> None:
    if not 0 <= asked < count:
        raise TraceError("{what} run from 0 to {count}, got {asked}.", what=what, count=count - 1, asked=asked)
