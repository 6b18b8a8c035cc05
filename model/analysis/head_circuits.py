"""What a head would do with tokens alone, in no sentence: which it would look at (QK), and what it would write (OV).

Elhage et al. 2021 ("A Mathematical Framework for Transformer Circuits"): the scores of a head are a bilinear form of
two tokens, xᵀ W_Q W_Kᵀ y, and what it writes of a token it looks at is linear in it, y W_V W_O. Here tokens come as
they are embedded, without positions, as if no layer before had added anything; so for the first layer it is what the
head does but for positions, and for a later one the direct path alone. Where positions rotate queries and keys (Su et
al. 2021), a score depends on how far the two are apart, and this distance is chosen.

Norms are not linear. Where a token goes in, its norm is computed; where the head's output goes on, the norm counts as
what it is up to its divisor, which does not change the order of tokens: the mean is taken off, the gain multiplied.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.abilities import Abilities
from model.errors import DataError
from model.interruption import Progress, no_progress
from model.nn.attention import AttentionInputs, softmax_over_keys
from model.nn.score_functions import DotProduct
from model.parts.parts import Parts
from model.parts.weights import Norm, Sublayer
from model.reader import Reader
from model.trace.trace import Trace

#: Scores that are held at once: few enough for a core's own cache.
QUERIES_AT_ONCE: Final = 256
KEYS_AT_ONCE: Final = 1024
#: Tokens whose queries, keys and values are computed at once.
TOKENS_AT_ONCE: Final = 2048
#: Positions that add to scores, and so are no part of what a head does with tokens alone.
BIASES: Final = ("ALiBi", "relative bias")
#: The largest distance in a model that reads texts of any length.
LONGEST_DISTANCE: Final = 4_095


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


def largest_distance(abilities: Abilities, site: str) -> int:
    """How far a key may stand before its query; 0 where no score depends on this alone."""
    if abilities.positions != "rotary" or site == "decoder.cross":
        return 0
    return abilities.max_length - 1 if abilities.max_length else LONGEST_DISTANCE


@torch.inference_mode()
def head_circuits(
    reader: Reader, site: str, layer: int, head: int, *, distance: int = 0, progress: Progress = no_progress
) -> HeadCircuits:
    """QK and OV of a head, from 0; keys stand `distance` tokens before their query, which counts in rotary models.

    Raises a DataError if there is no such head or distance, or if scores are no products of queries and keys, and a
    TraceError if the model's parts are not known. `progress` counts the tokens done since the last call.
    """
    heads = _heads(reader, site)
    if not (0 <= layer < len(heads) and 0 <= head < heads[layer]):
        message = "{site} has {num_heads} layers; there is no layer {layer}, head {head} (from 0)."
        raise DataError(message, site=site, num_heads=len(heads), layer=layer, head=head)
    if not 0 <= distance <= (most := largest_distance(reader.abilities, site)):
        raise DataError("Expected a distance from 0 to {most:,}, got {distance:,}.", most=most, distance=distance)
    parts = reader.parts
    of = _Attention(parts, site, layer, distance)
    tokens, common = read_off(parts, site), of.common_values()[head]
    found: list[tuple[Tensor, Tensor, Tensor]] = []
    for inputs in of.every_token(len(tokens)):
        shared = head // (inputs.num_heads // len(inputs.key))
        found.append((inputs.query[head], inputs.key[shared], inputs.value[shared] - common))
        progress(len(inputs.query[head]))
    queries, keys, values = (torch.cat(each).float() for each in zip(*found, strict=True))
    sink = None if inputs.sinks is None else inputs.sinks[head].float()[None, None]
    written = direct_output(parts, site, layer)[head] @ tokens.T
    return HeadCircuits(queries, keys, values, written, inputs.scale, softcap=inputs.softcap, sink=sink)


@torch.inference_mode()
def copying_scores(reader: Reader, site: str, progress: Progress = no_progress) -> Float[Tensor, "layer head"]:
    """The copying score of every head; NaN of heads that a layer does not have.

    `progress` is called with 1 for each layer. Raises as `head_circuits`.
    """
    heads, parts = _heads(reader, site), reader.parts
    scores = torch.full((len(heads), max(heads)), torch.nan)
    vectors = read_off(parts, site)
    for layer, count in enumerate(heads):
        of = _Attention(parts, site, layer)
        common, output = of.common_values(), direct_output(parts, site, layer)
        # Σ over tokens of what is read off and of values: neither values of all tokens nor OV are held.
        between = torch.zeros(count, output.size(2), output.size(1))
        for tokens, inputs in zip(torch.split(vectors, TOKENS_AT_ONCE), of.every_token(len(vectors)), strict=True):
            between += torch.einsum("td,htv->hdv", tokens, inputs.values() - common)
        for head in range(count):
            scores[layer, head] = copying_score(output[head] @ between[head])
        progress(1)
    return scores


def copying_score(matrix: Float[Tensor, "d_k d_k"]) -> float:
    """Σλ / Σ|λ| over the eigenvalues of a matrix; 0 where all are 0."""
    eigenvalues = torch.linalg.eigvals(matrix.double().cpu())
    total = eigenvalues.abs().sum()
    return float(eigenvalues.real.sum() / total) if total > 0 else 0.0


def _heads(reader: Reader, site: str) -> tuple[int, ...]:
    if "circuits" in reader.abilities.lacks:
        raise DataError(reader.abilities.lacks["circuits"])
    return reader.abilities.heads[site]


@dataclass(frozen=True, eq=False)
class _Attention:
    """An attention of a layer, and what it computes of tokens alone."""

    parts: Parts
    site: str
    layer: int
    distance: int = 0

    @property
    def at(self) -> Sublayer:
        """Which sub-layer it is."""
        return Sublayer.of_site(self.site, self.layer)

    def every_token(self, count: int) -> Iterator[AttentionInputs]:
        """Queries, keys and values of tokens from 0, some at a time."""
        for ids in torch.split(torch.arange(count), TOKENS_AT_ONCE):
            memory = self.parts.embed("encoder", ids.tolist()) if self.at.kind == "cross" else None
            yield self._inputs(self.parts.embed(self.at.stack, ids.tolist()), memory)

    def common_values(self) -> Float[Tensor, "head 1 d_v"]:
        """The values of an embedding of zeros: what biases, of W_V and of a norm before it, add to every token's."""
        zero = torch.zeros(1, self.parts.output(self.site, self.layer).size(-1))
        return self._inputs(zero, zero if self.at.kind == "cross" else None).values()

    def _inputs(
        self, embedded: Float[Tensor, "token d_model"], memory: Float[Tensor, "token d_model"] | None
    ) -> AttentionInputs:
        """Of tokens as they are embedded: through the norm of a post-norm sub-layer before, or the encoder's last."""
        order = self.parts.sublayers(self.at.stack)
        before = [self.parts.norms(each).after for each in order[: order.index(self.at)][-1:]]
        if memory is not None:
            last = self.parts.norms(self.parts.sublayers("encoder")[-1]).after
            memory = _through((last, self.parts.final_norm("encoder")), memory)
        read = _through(before, embedded)
        inputs = self.parts.layer_inputs(self.site, self.layer, read, memory, self.distance)
        if not isinstance(inputs.score, DotProduct):
            raise DataError("The scores of this model's heads are not dot products, so there is no W_Q W_Kᵀ.")
        if inputs.bias is not None and self.parts.abilities.positions not in BIASES:
            raise DataError(
                "The scores of this model are not only products of queries and keys; something is added to them."
            )
        return inputs


def read_off(parts: Parts, site: str) -> Float[Tensor, "token d_model"]:
    """Every token's vector, by which what a head puts out is multiplied."""
    return parts.table("encoder") if site == "encoder.self" else parts.unembedding()


def direct_output(parts: Parts, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
    """W_O of each head, through the norms that follow it on the direct path but for their divisors."""
    at = Sublayer.of_site(site, layer)
    output, order, norms = parts.output(site, layer), parts.sublayers(at.stack), [parts.norms(at).of_output]
    if at.stack == "decoder":
        norms += [*(parts.norms(each).after for each in order[order.index(at) :]), parts.final_norm("decoder")]
    for norm in norms:
        output = output if norm is None else norm.linear(output)
    return output


def _through(norms: Iterable[Norm | None], x: Float[Tensor, "token d_model"]) -> Float[Tensor, "token d_model"]:
    for norm in norms:
        x = x if norm is None else norm(x)
    return x
