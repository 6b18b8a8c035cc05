"""Compute attention and its multi-head form (§3.2).

`attention_weights` is the only implementation of the equation: the model's explicit path, the trace and every figure
call it. The forward pass uses torch's fused kernel, which gives the same without holding a query × key array.
"""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.config import TransformerConfig
from model.errors import TraceError, said
from model.nn.edits import HeadEdit, edit_scores
from model.nn.hooks import HookPoint
from model.nn.masks import AttentionMask, Rows
from model.nn.score_functions import DOT_PRODUCT, Additive, Bilinear, DistanceBias, DotProduct, ScoreFunction


class ScoresAndWeights(NamedTuple):
    """Scores before and weights after the softmax, both [..., query, key]."""

    scores: Float[Tensor, "*batch query key"]
    weights: Float[Tensor, "*batch query key"]


def attention_weights(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    *,
    scale: float,
    score: ScoreFunction = DOT_PRODUCT,
    mask: Bool[Tensor, "*#batch query key"] | None = None,
    bias: Float[Tensor, "*#batch query key"] | None = None,
    softcap: float | None = None,
    sinks: Float[Tensor, "*#batch 1 1"] | None = None,
) -> ScoresAndWeights:
    """scores = score(Q, K) · scale (+ bias), −∞ where the mask is False; weights = softmax over keys.

    With the dot product as score function that is softmax(QKᵀ / √d_k) of §3.2.1, eq. 1.

    Args:
        query, key: one row per position; leading dimensions broadcast.
        scale: 1/√d_k in the paper.
        score: of a query and a key; the paper's dot product, or one of those that came before it.
        mask: True where the query may attend to the key.
        bias: added to the scaled (and capped) scores.
        softcap: scaled scores become cap · tanh(scores / cap), before the bias (Gemma 2, arXiv 2408.00118, §2).
        sinks: a further logit in the softmax's denominator, of no key, so that a row sums to less than 1 (Xiao et al.
            2024, arXiv 2309.17453; gpt-oss learns one for each head).

    A row that may attend to nothing has weights of zero, not NaN, and passes no gradient.
    """
    scores = score.scores(query, key) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    if mask is None and sinks is None:
        return ScoresAndWeights(scores, scores.softmax(dim=-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return ScoresAndWeights(scores, softmax_over_keys(scores, sinks))


def softmax_over_keys(
    scores: Float[Tensor, "*batch query key"], sinks: Float[Tensor, "*#batch 1 1"] | None = None
) -> Float[Tensor, "*batch query key"]:
    """Softmax over the last dimension; a row of nothing but −∞ gives zeros, not NaN, and passes no gradient.

    `sinks` are logits that count in the denominator only.
    """
    finite = scores.clamp_min(torch.finfo(scores.dtype).min)
    if sinks is not None:
        with_sink = torch.cat((finite, sinks.to(scores.dtype).expand(*scores.shape[:-1], 1)), dim=-1)
        return with_sink.softmax(dim=-1)[..., :-1].masked_fill(scores.isneginf(), 0.0)
    return finite.softmax(dim=-1).masked_fill(scores.isneginf(), 0.0)


def entropy_bits(weights: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """−Σ w · log₂ w, in bits: 0 for one key alone, log₂ k for k keys evenly; a weight of zero adds nothing."""
    entropy: Tensor = torch.special.entr(weights).sum(-1)
    return entropy / math.log(2)


@dataclass(frozen=True, eq=False)
class MadeOf:
    """Keys or values kept as what a matrix makes them of: the memory, which is the same in every layer of a decoder.

    The matrix is the model's own, and stays in memory with this; some rows are kept to tell whether it has changed.
    """

    memory: Float[Tensor, "key d_model"]
    matrix: nn.Linear
    some: slice  #: rows
    kept: Float[Tensor, "kv_head row d_k"]  #: what they were

    def is_true(self) -> bool:
        """Whether the matrix makes the rows that were kept."""
        weight, memory = self.matrix.weight, self.memory
        if (weight.device, weight.dtype) != (memory.device, memory.dtype):
            return False
        return torch.allclose(self._of(memory[self.some]), self.kept, rtol=1e-5, atol=1e-5)

    def rows(self) -> Float[Tensor, "kv_head key d_k"]:
        """All rows. Raises a TraceError if the matrix has changed."""
        if not self.is_true():
            raise TraceError(
                "The model has changed since this trace was made: its weights, or the device that they are on. Keys "
                "and values of a long input are computed from its weights, so trace the input again."
            )
        return self._of(self.memory)

    @torch.no_grad()
    def _of(self, memory: Float[Tensor, "row d_model"]) -> Float[Tensor, "kv_head row d_k"]:
        made: Tensor = self.matrix(memory)
        return made.view(len(memory), len(self.kept), -1).transpose(0, 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionInputs:
    """All that an attention site of a layer computed its weights from, for one sentence.

    Everything derived is float32, for the requested heads and query rows; nothing n × n is kept.
    """

    query: Float[Tensor, "head query d_k"]
    #: [kv_head, key, d_k]; with fewer key/value heads than query heads, each serves a group of query heads.
    key: Float[Tensor, "kv_head key d_k"]
    value: Float[Tensor, "kv_head key d_v"]
    mask: AttentionMask
    scale: float
    score: ScoreFunction = DOT_PRODUCT  #: what is scaled, see `attention_weights`
    #: added to the scaled scores, broadcastable to [head, query, key]; a `DistanceBias` where it depends on how far
    #: apart query and key are, so that nothing query × key is held.
    bias: Float[Tensor, "..."] | DistanceBias | None = None
    softcap: float | None = None  #: bounds the scaled scores, see `attention_weights`
    #: a logit per head that takes weight from all keys, see `attention_weights`.
    sinks: Float[Tensor, "head"] | None = None
    #: what was done to the scores of its heads, in this order; what is derived is what the model used.
    edits: tuple[HeadEdit, ...] = ()
    #: lse_i = log Σ_j exp(s_ij) of each row, where the pass told them (`with_log_sums`). `replace` forgets them: they
    #: are those of these scores alone.
    log_sums: Float[Tensor, "head query"] | None = field(default=None, init=False)

    def with_log_sums(self, sums: Float[Tensor, "head query"] | None) -> "AttentionInputs":
        """The same, which knows what the pass computed of its rows; any number for one that sees nothing."""
        known = replace(self)
        object.__setattr__(known, "log_sums", sums)
        return known

    def of_first(self, count: int) -> "AttentionInputs":
        """Those of the first rows and keys alone: what they would be, where no row sees a later key or has a bias."""
        mask = replace(self.mask, num_queries=count, num_keys=count)
        query, key, value = (part[:, :count] for part in (self.query, self.key, self.value))
        first = replace(self, query=query, key=key, value=value, mask=mask)
        return first.with_log_sums(None if self.log_sums is None else self.log_sums[:, :count])

    def with_made(self, made: Mapping[str, MadeOf]) -> "AttentionInputs":
        """The same, whose "key" and "value" are made each time that they are asked for; `replace` keeps them again."""
        lean = copy(self)
        for name in made:
            object.__delattr__(lean, name)
        object.__setattr__(lean, "_made", made)
        return lean

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Tensor:
            if name not in (made := self.__dict__.get("_made", {})):
                raise AttributeError(name)
            return made[name].rows()

    @property
    def num_heads(self) -> int:
        """Query heads."""
        return self.query.size(0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Heads, query rows and keys."""
        return self.query.size(0), self.query.size(1), self.mask.num_keys

    def scores_and_weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> ScoresAndWeights:
        """Scores and weights [head, row, key] in float32."""
        chosen = list(range(self.num_heads)) if heads is None else list(heads)
        derived = attention_weights(
            self.query[:, rows][chosen].float(),
            self._of_heads(self.key, chosen),
            scale=self.scale,
            score=self.score.of_heads(chosen),
            mask=self.mask.rows(rows),
            bias=self.bias_rows(chosen, rows),
            softcap=self.softcap,
            sinks=self.sinks_of(chosen),
        )
        return self.edited(derived, chosen, rows)

    def edited(self, derived: ScoresAndWeights, heads: Sequence[int], rows: Rows) -> ScoresAndWeights:
        """Scores and weights [head, row, key] of these heads and rows, as the edits of this site left them."""
        if not self.edits:
            return derived
        numbers = torch.arange(self.query.size(1))[rows].tolist()
        scores = edit_scores(derived.scores, self.edits, heads, numbers)
        return ScoresAndWeights(scores, softmax_over_keys(scores, self.sinks_of(heads)))

    def weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> Float[Tensor, "head row key"]:
        """Weights [head, row, key] in float32."""
        return self.scores_and_weights(heads, rows).weights

    def bias_rows(self, heads: Sequence[int], rows: Rows = slice(None)) -> Float[Tensor, "head row key"] | None:
        """What is added to the scaled scores of these heads and rows, in float32."""
        if self.bias is None:
            return None
        if isinstance(self.bias, DistanceBias):
            return self.bias.rows(heads, rows).float()
        return self.bias.expand(self.shape)[list(heads)][:, rows].float()

    def sinks_of(self, heads: Sequence[int]) -> Float[Tensor, "head 1 1"] | None:
        """The extra logit of each of these heads, in float32."""
        return None if self.sinks is None else self.sinks[list(heads), None, None].float()

    def head_output(
        self, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row d_v"]:
        """weights @ value of each head, before W_O, in float32."""
        return self.scores_and_weights(heads, rows).weights @ self.values(heads)

    def values(self, heads: Sequence[int] | None = None) -> Float[Tensor, "head key d_v"]:
        """The values that each head sums up, in float32; heads that share them each get their own."""
        return self._of_heads(self.value, list(range(self.num_heads)) if heads is None else list(heads))

    def keys(self) -> Float[Tensor, "head key d_k"]:
        """The same of the keys with which each head scores."""
        return self._of_heads(self.key, list(range(self.num_heads)))

    def _of_heads(self, shared: Tensor, heads: list[int]) -> Tensor:
        group = self.num_heads // shared.size(0)
        places = [head // group for head in heads]
        # An index copies: of all heads that share nothing it would copy everything.
        return (shared if places == list(range(len(shared))) else shared[places]).float()


class KeptRows:
    """What one module computed of earlier decoding steps: tensors [batch, ..., position, width] of equal positions.

    An attention site keeps keys and values: self attention appends those of each step, cross attention fills it once,
    from the memory. A model without self-attention keeps what its next rows read. No row is written in place.
    """

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors

    def __len__(self) -> int:
        return self.tensors[0].size(-2) if self.tensors else 0

    def append(self, *new: Tensor) -> tuple[Tensor, ...]:
        """Add the rows of this step and return all rows so far."""
        if self.tensors:
            new = tuple(torch.cat(both, dim=-2) for both in zip(self.tensors, new, strict=True))
        self.tensors = new
        return new

    def truncate(self, length: int) -> None:
        """Forget every row from `length` on."""
        self.tensors = tuple(rows[..., :length, :] for rows in self.tensors)

    def select(self, batch: Tensor) -> None:
        """Keep these sentences (or beams) of the batch, in this order."""
        self.tensors = tuple(rows[batch] for rows in self.tensors)


class AttentionSite(nn.Module):
    """One attention of one layer: hook points, and the way from query, key and value to what each head puts out.

    What makes query, key and value is a subclass' own; so is what it does with the heads' outputs.
    """

    def __init__(self, num_heads: int, d_v: int, *, scale: float = 1.0, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_heads, self.d_v, self.scale, self.dropout = num_heads, d_v, scale, dropout
        self.hook_query, self.hook_key, self.hook_value = HookPoint(), HookPoint(), HookPoint()
        self.hook_mask, self.hook_scores, self.hook_weights = HookPoint(), HookPoint(), HookPoint()
        self.hook_head_output = HookPoint()

    @property
    def score(self) -> ScoreFunction:
        """Its score function, with what it has learned."""
        return DOT_PRODUCT

    def attend(
        self,
        query: Float[Tensor, "batch head query d_k"],
        key: Float[Tensor, "batch head key d_k"],
        value: Float[Tensor, "batch head key d_v"],
        mask: AttentionMask,
    ) -> Float[Tensor, "batch head query d_v"]:
        """weights @ value of each head, as hooks leave it."""
        return self.hook_head_output(self._attend(query, key, value, self.hook_mask(mask)))

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: AttentionMask) -> Tensor:
        allowed = mask.dense()
        if allowed is not None:
            allowed = allowed[:, None]
        dropout = self.dropout if self.training else 0.0
        score = self.score
        # In training the explicit path is faster: on a CPU the fused kernel's backward pass is slow on short sequences,
        # and on a GPU makes cuDNN's plans again for every shape of batch, which takes as long as the step.
        is_fused = isinstance(score, DotProduct) and not self.training
        if is_fused and not (self.hook_scores.is_wanted or self.hook_weights.is_wanted):
            return F.scaled_dot_product_attention(
                query, key, value, attn_mask=allowed, dropout_p=dropout, scale=self.scale
            )
        scores, weights = attention_weights(query, key, scale=self.scale, score=score, mask=allowed)
        if self.hook_scores.is_wanted:
            weights = softmax_over_keys(self.hook_scores(scores))
        weights = self.hook_weights(weights)
        return F.dropout(weights, dropout) @ value


class MultiHeadAttention(AttentionSite):
    """MultiHead(Q, K, V) = Concat(head_1 … head_h) W_O, head_i = Attention(Q W_Qi, K W_Ki, V W_Vi) (§3.2.2).

    W_Q, W_K, W_V, W_O are `query`, `key`, `value`, `output`; each head has its own columns.
    """

    def __init__(self, config: TransformerConfig) -> None:
        d_model, num_heads = config.d_model, config.num_heads
        super().__init__(num_heads, config.d_k, scale=config.attention_scale, dropout=config.attention_dropout)
        self.d_k = config.d_k
        self.score_kind = config.score
        if config.score == "additive":
            # As wide as the rows of a Xavier-uniform matrix from d_k numbers to one.
            self.score_vector = nn.Parameter(nn.init.xavier_uniform_(torch.empty(num_heads, self.d_k)))
        elif config.score == "general":
            self.score_matrix = nn.Parameter(torch.eye(self.d_k).repeat(num_heads, 1, 1))
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    @property
    def score(self) -> ScoreFunction:
        """Its score function, with what it has learned."""
        if self.score_kind == "additive":
            return Additive(self.score_vector)
        return Bilinear(self.score_matrix) if self.score_kind == "general" else DOT_PRODUCT

    def forward(
        self,
        queries_from: Float[Tensor, "batch query d_model"],
        keys_from: Float[Tensor, "batch key d_model"],
        mask: AttentionMask,
        cache: KeptRows | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Attend from each row of `queries_from` to the rows of `keys_from`, and to those in the cache before them.

        A filled cache of a site whose keys do not come from its queries (cross attention) is used as it is.
        """
        # 1. Project, and split into heads.
        query = self.hook_query(self._split(self.query(queries_from)))
        if cache and keys_from is not queries_from:
            key, value = cache.tensors
        else:
            key = self.hook_key(self._split(self.key(keys_from)))
            value = self.hook_value(self._split(self.value(keys_from)))
            if cache is not None:
                key, value = cache.append(key, value)
        # 2. Attend, each head for itself.
        head_output = self.attend(query, key, value, mask)
        # 3. Join the heads.
        joined: Tensor = self.output(head_output.transpose(1, 2).flatten(2))
        return joined

    def _split(self, projected: Tensor) -> Tensor:
        return projected.view(*projected.shape[:2], self.num_heads, self.d_k).transpose(1, 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightsOnly:
    """The weights of one attention site of one layer, its mask, and a sentence: `why` there is no more than weights.

    It has the methods of `AttentionInputs`; those that need query, key and value raise a TraceError that says why.
    """

    held: Float[Tensor, "head query key"]
    mask: AttentionMask
    why: str

    @property
    def num_heads(self) -> int:
        """Query heads."""
        return self.held.size(0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Heads, query rows and keys."""
        return self.held.size(0), self.held.size(1), self.held.size(2)

    @property
    def edits(self) -> tuple[HeadEdit, ...]:
        """None: what is not known cannot be changed."""
        return ()

    def weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> Float[Tensor, "head row key"]:
        """Weights [head, row, key] in float32."""
        chosen = self.held if heads is None else self.held[list(heads)]
        return chosen[:, rows].float()

    def scores_and_weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> ScoresAndWeights:
        """Not known: raises a TraceError."""
        self._refuse(said("scores before the softmax"))

    def head_output(
        self, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row d_v"]:
        """Not known: raises a TraceError."""
        self._refuse(said("outputs of heads"))

    def values(self, heads: Sequence[int] | None = None) -> Float[Tensor, "head key d_v"]:
        """Not known: raises a TraceError."""
        self._refuse(said("values"))

    def _refuse(self, what: str) -> NoReturn:
        raise TraceError("There are no {what} here, only attention weights: {why}", what=what, why=self.why)
