"""What a head would do with tokens alone, in no sentence: which it would look at (QK), and what it would write (OV).

Elhage et al. 2021 ("A Mathematical Framework for Transformer Circuits"): the scores of a head are a bilinear form of
two tokens, xᵀ W_Q W_Kᵀ y, and what it writes of a token it looks at is linear in it, y W_V W_O. Here tokens come as
they are embedded, without positions, as if no layer before had added anything; so for the first layer it is what the
head does but for positions, and for a later one the direct path alone.

Norms are not linear. Where a token goes in, its norm is computed; where the head's output goes on, the norm counts as
what it is up to its divisor, which does not change the order of tokens: the mean is taken off, the gain multiplied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.analysis.residual_stream.capture import Sublayer, kinds
from model.errors import DataError
from model.interruption import Progress, no_progress
from model.nn.attention import MultiHeadAttention, softmax_over_keys
from model.nn.score_functions import DotProduct
from model.nn.transformer import Transformer
from model.parts.weights import Kind, Stack
from model.trace.trace import Trace

#: Scores that are held at once: few enough for a core's own cache.
QUERIES_AT_ONCE: Final = 256
KEYS_AT_ONCE: Final = 1024


class Written(NamedTuple):
    """What a head writes of a token that it looks at: the tokens it adds most to, and the token's own place, from 1."""

    token: int
    most: tuple[int, ...]
    own_place: int


class TokenPair(NamedTuple):
    """Two tokens, by their ids, and the score between them."""

    query: int
    key: int
    score: float


@dataclass(frozen=True, eq=False)
class HeadCircuits:
    """A head, of an attention with dot products, and the tokens of its model. Tensors are float32 on the CPU."""

    #: queries, keys: W_Q and W_K of every token of the vocabulary, biases included.
    queries: Float[Tensor, "token d_k"]
    keys: Float[Tensor, "token d_k"]
    #: W_V of every token, without its bias and that of the norm before it, which add the same whatever is looked at.
    values: Float[Tensor, "token d_k"]
    #: what each dimension of a value adds to every token: of a decoder's head to its logit, of an encoder's to the
    #: likeness with its embedding.
    written: Float[Tensor, "d_k token"]
    scale: float  #: 1/√d_k in the paper
    softcap: float | None = None  #: bounds the scores, see `attention_weights`
    sink: Float[Tensor, "1 1"] | None = None  #: takes weight from all tokens, see `attention_weights`

    def scores(self, queries: Int[Tensor, "query"], keys: Int[Tensor, "key"]) -> Float[Tensor, "query key"]:
        """The score of each of these tokens, as it looks, with each of those that it may look at."""
        return self._scores(self.queries[queries], self.keys[keys])

    def _scores(
        self, queries: Float[Tensor, "query d_k"], keys: Float[Tensor, "key d_k"]
    ) -> Float[Tensor, "query key"]:
        scores = (queries * self.scale) @ keys.T
        return scores if self.softcap is None else self.softcap * (scores / self.softcap).tanh()

    def best_pairs(self, count: int, progress: Progress = no_progress) -> list[TokenPair]:
        """The pairs of the whole vocabulary with the highest scores, the highest first.

        No score is larger than the product of two lengths, so tokens are compared from the longest to the shortest, and
        those too short for a score as high as the pairs found are left out. `progress` is called with the number of
        queries done since the last call; it may raise an error to end.
        """
        queries, keys = (vectors.norm(dim=1).sort(descending=True) for vectors in (self.queries, self.keys))
        blocks = list(zip(*(torch.split(each, KEYS_AT_ONCE) for each in (*keys, self.keys[keys.indices])), strict=True))
        found: list[TokenPair] = []
        least = -torch.inf
        for lengths, rows in zip(*(torch.split(each, QUERIES_AT_ONCE) for each in queries), strict=True):
            of_rows = self.queries[rows]
            for of_keys, columns, vectors in blocks:
                if float(lengths[0] * of_keys[0]) * self.scale < least:
                    break
                scores = self._scores(of_rows, vectors)
                if float(scores.max()) > least:
                    best = scores.flatten().topk(min(count, scores.numel()))
                    for at, score in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                        row, column = divmod(at, len(columns))
                        found.append(TokenPair(int(rows[row]), int(columns[column]), score))
                    found = sorted(found, key=lambda pair: -pair.score)[:count]
                    least = found[-1].score if len(found) == count else least
            progress(len(rows))
        return found

    def writes(self, tokens: Int[Tensor, "looked_at"]) -> Float[Tensor, "looked_at token"]:
        """How much the head adds to every token's score for each of these that it looks at with all its weight."""
        return self.values[tokens] @ self.written

    def most_written(self, tokens: Sequence[int], count: int) -> list[Written]:
        """What the head writes most of each of these tokens."""
        ids = torch.tensor(list(tokens), dtype=torch.long)
        added = self.writes(ids)
        most = added.topk(min(count, added.size(1)), dim=-1).indices.tolist()
        places = (added > added.gather(1, ids[:, None])).sum(-1) + 1
        return [Written(*row) for row in zip(ids.tolist(), map(tuple, most), places.tolist(), strict=True)]

    def weights(self, trace: Trace, site: str, layer: int) -> Float[Tensor, "query key"]:
        """The weights that the head would give in a trace if its tokens came as they are embedded; its mask holds."""
        mask = trace.mask(site, layer).cpu()
        queries = trace.source_ids if site == "encoder.self" else trace.target_ids
        keys = trace.target_ids if site == "decoder.self" else trace.source_ids
        scores = self.scores(torch.tensor(queries[: mask.size(0)]), torch.tensor(keys[: mask.size(1)]))
        return softmax_over_keys(scores.masked_fill(~mask, -torch.inf), self.sink)

    @property
    def copying(self) -> float:
        """Σλ / Σ|λ| over the eigenvalues of token → token, −1 to 1; near 1 the head writes what it looks at.

        That matrix has rank d_k; its eigenvalues but for zeros are those of a d_k × d_k one.
        """
        return copying_score(self.written @ self.values)


@dataclass(frozen=True, eq=False)
class _Layer:
    """What an attention of a layer would read of every token, and by what its output is read off."""

    attention: MultiHeadAttention
    #: own, looked_at: every token, as it looks and as it is looked at.
    own: Float[Tensor, "token d_model"]
    looked_at: Float[Tensor, "token d_model"]
    #: what is looked at of every token alike: the bias of the norm before the attention.
    always: Float[Tensor, "1 d_model"]
    read_off: Float[Tensor, "token d_model"]  #: every token's vector, with which what a head puts out is multiplied
    gains: list[Float[Tensor, "d_model"]]  #: of the norms through which it goes before, in order

    def rows(self, head: int) -> slice:
        """The columns of W_Q, W_K, W_V and the rows of W_O that are a head's own."""
        return slice(head * self.attention.d_k, (head + 1) * self.attention.d_k)

    def output(self, head: int) -> Float[Tensor, "d_k d_model"]:
        """The head's rows of W_O, through the norms that follow but for their divisors."""
        output = self.attention.output.weight.float()[:, self.rows(head)].T
        for gain in self.gains:
            output = (output - output.mean(-1, keepdim=True)) * gain
        return output


@torch.inference_mode()
def head_circuits(model: Transformer, site: str, layer: int, head: int) -> HeadCircuits:
    """QK and OV of a head, from 0. Raises a DataError if there is no such head, or its scores are no dot products."""
    layers, heads = model.config.shapes[site]
    if not (0 <= layer < layers and 0 <= head < heads):
        message = "{site} has {layers} layers of {heads} heads; there is no layer {layer}, head {head} (from 0)."
        raise DataError(message, site=site, layers=layers, heads=heads, layer=layer, head=head)
    of = _layer(model, site, layer)
    rows, attention = of.rows(head), of.attention
    return HeadCircuits(
        queries=_projected(attention.query, rows, of.own, with_bias=True).cpu(),
        keys=_projected(attention.key, rows, of.looked_at, with_bias=True).cpu(),
        values=_projected(attention.value, rows, of.looked_at - of.always, with_bias=False).cpu(),
        written=(of.output(head) @ of.read_off.T).cpu(),
        scale=attention.scale,
    )


@torch.inference_mode()
def copying_scores(model: Transformer, site: str, progress: Progress = no_progress) -> Float[Tensor, "layer head"]:
    """The copying score of every head; `progress` is called with 1 for each layer. Raises as `head_circuits`."""
    layers, heads = model.config.shapes[site]
    scores = torch.empty(layers, heads)
    for layer in range(layers):
        of = _layer(model, site, layer)
        between = of.read_off.T @ (of.looked_at - of.always)
        for head in range(heads):
            value = of.attention.value.weight.float()[of.rows(head)]
            scores[layer, head] = copying_score(of.output(head) @ between @ value.T)
        progress(1)
    return scores


def copying_score(matrix: Float[Tensor, "d_k d_k"]) -> float:
    """Σλ / Σ|λ| over the eigenvalues of a matrix; 0 where all are 0."""
    eigenvalues = torch.linalg.eigvals(matrix.double().cpu())
    total = eigenvalues.abs().sum()
    return float(eigenvalues.real.sum() / total) if total > 0 else 0.0


def _layer(model: Transformer, site: str, layer: int) -> _Layer:
    stack, kind = cast(tuple[Stack, Kind], site.split("."))
    sublayer = Sublayer(stack, layer, kind)
    attention = cast(MultiHeadAttention, model.get_submodule(sublayer.path))
    if not isinstance(attention.score, DotProduct):
        raise DataError("The scores of this model's heads are not dot products, so there is no W_Q W_Kᵀ.")
    embedding = model.encoder.embedding if stack == "encoder" else model.decoder.embedding
    own = _normed(model, sublayer, embedding.tokens.weight.float() * embedding.scale)
    looked_at, always = own, _normed(model, sublayer, torch.zeros_like(own[:1]))
    if kind == "cross":
        looked_at = _as_memory(model, model.encoder.embedding.tokens.weight.float() * model.encoder.embedding.scale)
        always = _as_memory(model, torch.zeros_like(looked_at[:1]))
    read_off = embedding.tokens.weight.float() if stack == "encoder" else model.projection.weight.float()
    after = _norms_after(model, sublayer) if stack == "decoder" else []
    return _Layer(attention, own, looked_at, always, read_off, [norm.weight.float() for norm in after])


def _norms_after(model: Transformer, sublayer: Sublayer) -> list[nn.LayerNorm]:
    """The norms of the decoder on the direct path from a sub-layer to the projection, in order."""
    if model.config.norm == "pre":
        return [cast(nn.LayerNorm, model.decoder.norm)]
    order = kinds("decoder")
    every = [Sublayer("decoder", layer, kind) for layer in range(model.config.decoder_layers) for kind in order]
    after = every[every.index(sublayer) :]
    return [cast(nn.LayerNorm, model.get_submodule(f"{each.path}_residual.norm")) for each in after]


def _projected(linear: nn.Linear, rows: slice, x: Tensor, *, with_bias: bool) -> Tensor:
    projected = x @ linear.weight.float()[rows].T
    return projected + linear.bias.float()[rows] if with_bias and linear.bias is not None else projected


def _normed(model: Transformer, sublayer: Sublayer, x: Tensor) -> Tensor:
    """Vectors as a sub-layer reads them: through its own norm, or with post-norm through that of the one before."""
    reads = sublayer if model.config.norm == "pre" else sublayer.previous
    if reads is None:
        return x
    normed: Tensor = cast(nn.LayerNorm, model.get_submodule(f"{reads.path}_residual.norm")).float()(x)
    return normed


def _as_memory(model: Transformer, x: Tensor) -> Tensor:
    """Vectors as cross-attention reads them: through the last norm of the encoder, wherever that is."""
    last = Sublayer("encoder", model.config.num_layers - 1, "feed_forward")
    is_pre = isinstance(model.encoder.norm, nn.LayerNorm)
    norm = model.encoder.norm if is_pre else model.get_submodule(f"{last.path}_residual.norm")
    normed: Tensor = norm(x)
    return normed
