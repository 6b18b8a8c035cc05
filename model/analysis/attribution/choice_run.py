"""What the methods of attribution ask of a model that makes a choice, whatever model it is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice
from model.analysis.residual_stream.additions import Stack
from model.nn.encoder_decoder import site_path
from model.nn.hooks import listen
from model.nn.masks import AttentionMask
from model.trace.trace import Trace
from model.word_choice import Chooser

#: Tokens that are read side by side, and logits (of every row, as some models compute them) that are held at once.
TOKENS_AT_ONCE: Final = 4_000
LOGITS_AT_ONCE: Final = 1 << 27


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One layer that can be run again on what it read.

    Attributes:
        stack: where it stands.
        rows: positions that it reads and puts out.
        keys: site → how many keys its attention has, self-attention first.
        without: site and positions → its outputs without the values of that key, one copy for each position; as they
            were, once, for no positions. [copy, row, d_model]
    """

    stack: Stack
    rows: int
    keys: Mapping[str, int]
    without: Callable[[str, Sequence[int]], Float[Tensor, "copy row d_model"]]


@dataclass(frozen=True, eq=False)
class AttentionSum:
    """What an attention and its residual connection put out, y_i = Σ_j T_i(x_j) + bias, float32 on the CPU.

    Attributes:
        is_across: whether it is cross-attention.
        parts: T_i(x_j). What the residual connection hands on is in the row's own part of a self-attention; in
            cross-attention, which reads another stack, it is one part more, the last.
        output: y_i, with post-norm after the norm.
    """

    is_across: bool

    parts: Float[Tensor, "row part d_model"]
    output: Float[Tensor, "row d_model"]


@dataclass(frozen=True, eq=False)
class LayerSums:
    """The attentions of a layer; `across` is None of a layer without cross-attention."""

    stack: Stack
    within: AttentionSum
    across: AttentionSum | None = None


@dataclass(frozen=True, eq=False)
class ChoiceRun(ABC):
    """A model and a choice that it makes.

    Attributes:
        reader: the model.
        choice: what is explained, at a place of this model.
        trace: a run in which it is made, with its weights; the decoder may have read on after the row of the choice.
    """

    reader: Chooser
    choice: TokenChoice
    trace: Trace

    @property
    def copies(self) -> int:
        """How often the text may be read side by side."""
        most = min(TOKENS_AT_ONCE, LOGITS_AT_ONCE // self.reader.vocab_size)
        return max(1, most // self.choice.place.length)

    @abstractmethod
    def embeddings(self) -> tuple[Float[Tensor, "1 position width"], ...]:
        """The tokens' (scaled) embeddings without positions, of each stack that reads tokens, the encoder first.

        They are apart from the model's graph.

        Raises:
            TraceError: they cannot be told.
        """

    @abstractmethod
    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice (nats) with these vectors in place of `embeddings`; positions are added as ever."""

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

    @abstractmethod
    def layers(self) -> Iterator[LayerRun]:
        """Every layer on the way to the choice, the encoder's first.

        Raises:
            TraceError: they cannot be run by themselves.
        """

    @abstractmethod
    def sums(self) -> Iterator[LayerSums]:
        """What the attentions of each layer put out, in parts, the encoder's first.

        Raises:
            TraceError: the parts are not known.
        """


def layer_run(
    stack: Stack, hooks: Mapping[str, tuple[str, int]], run: Callable[[int], Float[Tensor, "copy row d_model"]]
) -> LayerRun:
    """A layer that can be run again.

    Args:
        stack: where it stands.
        hooks: site → the hook of its values and how many keys it has, self-attention first.
        run: gives the outputs of so many copies.
    """

    def without(site: str, positions: Sequence[int]) -> Tensor:
        with listen(edits={hooks[site][0]: partial(_zeroed, positions)}):
            return run(max(1, len(positions)))

    keys = {site: count for site, (_, count) in hooks.items()}
    return LayerRun(stack, keys[f"{stack}.self"], keys, without)


def with_residual(
    parts: Float[Tensor, "row part d_model"], stays: Float[Tensor, "row d_model"], *, is_across: bool
) -> Float[Tensor, "row new_part d_model"]:
    """The parts with what the residual connection hands on, as `AttentionSum` has it."""
    if is_across:
        return torch.cat((parts, stays[:, None]), dim=1)
    rows = torch.arange(len(parts))
    parts[rows, rows] += stays
    return parts


def _zeroed(positions: Sequence[int], value: Float[Tensor, "copy head key d_v"]) -> Float[Tensor, "copy head key d_v"]:
    """Values of which each copy lacks those of one of these positions."""
    value = value.clone()
    value[torch.arange(len(positions)), :, list(positions)] = 0.0
    return value


def _only(keys: Bool[Tensor, "copy key"], mask: AttentionMask) -> AttentionMask:
    """The mask that forbids all other keys too."""
    return replace(mask, key_padding=keys if mask.key_padding is None else mask.key_padding & keys)
