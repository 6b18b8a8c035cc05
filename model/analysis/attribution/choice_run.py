"""What the methods of attribution ask of a model that makes a choice, whatever model it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice
from model.analysis.residual_stream.additions import Stack
from model.trace.trace import Trace


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


@runtime_checkable
class ChoiceRun(Protocol):
    """A model and a choice that it makes."""

    @property
    def choice(self) -> TokenChoice:
        """What is explained."""

    @property
    def trace(self) -> Trace:
        """A run in which it is made, with its weights; the decoder may have read on after the row of the choice."""

    @property
    def copies(self) -> int:
        """How often the text may be read side by side."""

    def embeddings(self) -> tuple[Float[Tensor, "1 position width"], ...]:
        """The tokens' (scaled) embeddings without positions, of each stack that reads tokens, the encoder first.

        They are apart from the model's graph.

        Raises:
            TraceError: they cannot be told.
        """

    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice (nats) with these vectors in place of `embeddings`; positions are added as ever."""

    def seen_logits(self, seen: Bool[Tensor, "batch token"]) -> Float[Tensor, "batch vocab"]:
        """The logits of the place for variants of `choice.read` of which only some tokens can be attended to.

        A token that is not seen keeps its place: no row of any attention attends to it.
        """

    def layers(self) -> Iterator[LayerRun]:
        """Every layer on the way to the choice, the encoder's first.

        Raises:
            TraceError: they cannot be run by themselves.
        """

    def sums(self) -> Iterator[LayerSums]:
        """What the attentions of each layer put out, in parts, the encoder's first.

        Raises:
            TraceError: the parts are not known.
        """
