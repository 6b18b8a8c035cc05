"""What attribution explains, how probable a token is at a place in a text, and what its methods ask of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.errors import DataError, TraceError
from model.nn.encoder_decoder import site_path
from model.nn.masks import AttentionMask
from model.parts.run import NOT_FOUND, Addition, LayerRun
from model.parts.weights import Stack
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace, embedding_hook


@dataclass(frozen=True)
class TokenChoice:
    """A token that may be said at a place, and maybe another beside it."""

    place: TokenPlace  #: what is read, as token ids, and the row that says the token
    token: int  #: what is said there
    against: int | None = None  #: another token instead; None to ask for the token's own log-probability

    @property
    def source(self) -> tuple[int, ...]:
        """What the encoder reads; nothing in a decoder alone."""
        return self.place.source

    @property
    def prefix(self) -> tuple[int, ...]:
        """What the decoder reads; nothing in an encoder alone."""
        return self.place.target

    @property
    def read(self) -> tuple[int, ...]:
        """The text whose tokens can be hidden: the source, or what a decoder alone reads."""
        return self.source or self.prefix

    @property
    def own(self) -> int | None:
        """The position of that text which says the token, and cannot be hidden; None where a decoder reads another."""
        return None if self.source and self.prefix else self.place.row

    def of_logits(self, logits: Float[Tensor, "batch vocab"]) -> Float[Tensor, "batch"]:
        """log p(token), or log p(token) − log p(against), in nats, from the logits of the place."""
        log_probs = logits.float().log_softmax(-1)
        chosen: Tensor = log_probs[:, self.token]
        return chosen if self.against is None else chosen - log_probs[:, self.against]

    def said(self, logits: Float[Tensor, "batch vocab"]) -> Int[Tensor, "batch"]:
        """The token that the model says at the place: the likelier of both, or of all where none is set against it."""
        if self.against is None:
            return logits.argmax(-1)
        both = torch.tensor([self.token, self.against], device=logits.device)
        return both[logits[:, both].argmax(-1)]


class TokenScores(NamedTuple):
    """A number for each token that the encoder read and for each that the decoder read, on the CPU."""

    source: Float[Tensor, "source"]
    prefix: Float[Tensor, "prefix"]


def choice_at(trace: Trace, step: int, against: int | None = None) -> TokenChoice:
    """The token that a trace wrote at a step, from 0.

    Raises a DataError if there is no such step, or the token is to be set against itself.
    """
    if not 0 <= step < len(trace.steps):
        raise DataError("Steps run from 0 to {num_steps}, got {step}.", num_steps=len(trace.steps) - 1, step=step)
    row = trace.rows_before + step
    token = trace.steps[step].token_id
    if against == token:
        message = "“{token}” cannot be compared with itself; choose another token."
        raise DataError(message, token=trace.steps[step].token)
    return TokenChoice(TokenPlace(tuple(trace.source_ids), tuple(trace.target_ids[: row + 1]), row), token, against)


def visible(length: int, hidden: Sequence[Sequence[int]]) -> Bool[Tensor, "variant source"]:
    """Which of so many tokens are seen where these are hidden, one row a variant."""
    seen = torch.ones(len(hidden), length, dtype=torch.bool)
    for row, positions in zip(seen, hidden, strict=True):
        row[list(positions)] = False
    return seen


#: Tokens that are read side by side, and logits (of every row, as some models compute them) that are held at once.
TOKENS_AT_ONCE: Final = 4_000
LOGITS_AT_ONCE: Final = 128_000_000


@dataclass(frozen=True, eq=False)
class AttentionSum:
    """What an attention and its residual connection put out, y_i = Σ_j T_i(x_j) + bias, float32 on the CPU."""

    is_across: bool  #: whether it is cross-attention

    #: T_i(x_j). What the residual connection hands on is in the row's own part of a self-attention; in cross-attention,
    #: which reads another stack, it is one part more, the last.
    parts: Float[Tensor, "row part d_model"]
    output: Float[Tensor, "row d_model"]  #: y_i, with post-norm after the norm


@dataclass(frozen=True, eq=False)
class LayerSums:
    """The attentions of a layer; `across` is None of a layer without cross-attention."""

    stack: Stack
    within: AttentionSum
    across: AttentionSum | None = None


@dataclass(frozen=True, eq=False)
class ChoiceRun:
    """A model and a choice that it makes."""

    reader: Chooser
    choice: TokenChoice  #: what is explained, at a place of this model
    trace: Trace  #: a run in which it is made

    @property
    def copies(self) -> int:
        """How often the text may be read side by side."""
        most = min(TOKENS_AT_ONCE, LOGITS_AT_ONCE // self.reader.vocab_size)
        return max(1, most // self.choice.place.length)

    def embeddings(self) -> tuple[Float[Tensor, "1 position width"], ...]:
        """The tokens' (scaled) embeddings without positions, of each stack that reads tokens, the encoder first.

        They are apart from the model's graph. Raises a TraceError if they cannot be told.
        """
        kept = []

        def keep(vectors: Tensor) -> Tensor:
            kept.append(vectors.detach())
            return vectors

        with torch.no_grad():
            self.reader.place_logits(self.choice.place, edits=dict.fromkeys(self._points, keep))
        return tuple(kept)

    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice (nats) with these vectors in place of `embeddings`; positions are added as ever."""
        edits = {point: partial(_put, vector) for point, vector in zip(self._points, vectors, strict=True)}
        return self.choice.of_logits(self.reader.place_logits(self.choice.place, len(vectors[0]), edits))

    def seen_logits(self, seen: Bool[Tensor, "batch token"]) -> Float[Tensor, "batch vocab"]:
        """The logits of the place for variants of `choice.read` of which only some tokens can be attended to.

        A token that is not seen keeps its place: no row of any attention attends to it.
        """
        hide = partial(_only, seen.to(self.reader.device))
        edits = {
            f"{site_path(site, layer)}.hook_mask": hide
            for site, heads in self.reader.abilities.heads.items()
            if site != "decoder.self" or not self.choice.source
            for layer in range(len(heads))
        }
        return self.reader.place_logits(self.choice.place, len(seen), edits)

    def layers(self) -> Iterator[LayerRun]:
        """Every layer, the encoder's first. Raises a TraceError if one cannot be run alone."""
        return self.reader.parts.run(self.trace).layers()

    def sums(self) -> Iterator[LayerSums]:
        """What each layer's attentions put out, in parts, the encoder's first. Raises a TraceError if unknown."""
        run = self.reader.parts.run(self.trace)
        for stack in self.reader.parts.stacks:
            for layer, additions in enumerate(run.additions(stack)):
                attentions = (added for added in additions if added.kind != "feed_forward")
                yield LayerSums(stack, *(self._sum(f"{stack}.{added.kind}", layer, added) for added in attentions))

    @property
    def _points(self) -> list[str]:
        both = {"encoder": self.choice.source, "decoder": self.choice.prefix}
        return [embedding_hook(stack) for stack, ids in both.items() if ids]

    def _sum(self, site: str, layer: int, added: Addition) -> AttentionSum:
        inputs, of = self.trace.attention(site, layer), self.reader.parts
        parts = torch.einsum("hij,hjd->ijd", inputs.weights().cpu(), inputs.values().cpu() @ of.output(site, layer))
        bias, normed = of.output_bias(site, layer), added.output_norm
        real = added.added if normed is None else normed.before
        off = parts.sum(1) - (real if bias is None else real - bias)
        if off.abs().max() > of.tolerance * real.abs().max().clamp_min(1.0):
            raise TraceError(NOT_FOUND)
        if normed is not None:
            parts = normed.norm.linear(parts, normed.before[:, None])
        is_across, stays = site == "decoder.cross", added.before * added.has_skip
        if is_across:
            parts = torch.cat((parts, stays[:, None]), dim=1)
        else:
            parts.diagonal().add_(stays.T)
        if added.is_post and added.norm is not None:
            parts = added.norm.norm.linear(parts, added.norm.before[:, None])
        return AttentionSum(is_across, parts, added.after)


def _put(vectors: Tensor, instead: Tensor) -> Tensor:
    return vectors.to(instead)


def _only(keys: Bool[Tensor, "copy key"], mask: AttentionMask) -> AttentionMask:
    """The mask that forbids all other keys too."""
    return replace(mask, key_padding=keys if mask.key_padding is None else mask.key_padding & keys)
