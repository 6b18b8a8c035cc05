"""What every model's parts can be asked for: `reader.parts`, whichever model it is.

Two modules alone know whose model it is: `model.parts.ours`, and `model.adapters.library_parts` for those of
`transformers`. What a model does not have, or does not tell, raises a TraceError with one sentence.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities
from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import Edits
from model.parts.weights import AttentionWeights, Embedding, FeedForwardWeights, Kind, Norm, Norms, Stack, Sublayer
from model.trace.trace import Trace


@dataclass(frozen=True, eq=False, kw_only=True)
class NormStep:
    """Vectors before and after a norm."""

    norm: Norm
    before: Float[Tensor, "*rows d_model"]
    after: Float[Tensor, "*rows d_model"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Addition:
    """What one sub-layer read and added in a run, at every row of its stack, or at the one that was asked for."""

    kind: Kind
    before: Float[Tensor, "*rows d_model"]  #: the residual stream that comes in
    read: Float[Tensor, "*rows d_model"]  #: what the sub-layer reads of it: normed in a pre-norm model
    added: Float[Tensor, "*rows d_model"]  #: what the sub-layer adds
    #: stream and addition together; the addition alone in a model without residual connections.
    summed: Float[Tensor, "*rows d_model"]
    after: Float[Tensor, "*rows d_model"]  #: the residual stream that goes on: normed in a post-norm model
    norm: NormStep | None  #: the norm before the sub-layer (pre-norm) or after the sum (post-norm), if there is one
    is_post: bool = False  #: which of the two
    output_norm: NormStep | None = None  #: a norm of what it puts out, before that is added
    #: the units of a feed-forward network after its activation, as far as the model tells.
    hidden: Float[Tensor, "*rows d_ff"] | None = None
    #: whether each hidden unit is a product: activation(x W_gate) ⊙ x W_up (Shazeer 2020, arXiv 2002.05202).
    is_gated: bool = False
    has_skip: bool = True  #: whether what came in is added


class Run(ABC):
    """What a run added up. Tensors are float32 on the CPU, with every row of a stack, or the one that was asked for."""

    @property
    @abstractmethod
    def trace(self) -> Trace:
        """A trace of this run."""

    @abstractmethod
    def levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """The residual stream: what the first layer reads (level 0), what each puts out, before any final norm."""

    @abstractmethod
    def additions(self, stack: Stack) -> tuple[tuple[Addition, ...], ...]:
        """Of each layer, what its sub-layers add, in order."""


class Parts(ABC):
    """The parts of one model."""

    abilities: Abilities

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """The stacks that the model has."""
        both: tuple[Stack, ...] = ("encoder", "decoder")
        return tuple(stack for stack in both if f"{stack}.self" in self.abilities.heads)

    def kinds(self, stack: Stack) -> tuple[Kind, ...]:
        """The sub-layers of each layer of a stack, in order (§3.1)."""
        has_memory = stack == "decoder" and "decoder.cross" in self.abilities.heads
        return ("self", "cross", "feed_forward") if has_memory else ("self", "feed_forward")

    def count(self, stack: Stack) -> int:
        """Layers of a stack."""
        return len(self.abilities.heads[f"{stack}.self"])

    def sublayers(self, stack: Stack) -> tuple[Sublayer, ...]:
        """All sub-layers of a stack, in the order in which they add to its stream."""
        return tuple(Sublayer(stack, layer, kind) for layer in range(self.count(stack)) for kind in self.kinds(stack))

    @abstractmethod
    def embedding(self, stack: Stack) -> Embedding:
        """The token embeddings of a stack and what they are multiplied by."""

    @abstractmethod
    def embed(self, stack: Stack, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
        """What a stack's first layer would read of tokens, but for what is added for their positions."""

    @abstractmethod
    def norms(self, sublayer: Sublayer) -> Norms:
        """The norms of a sub-layer."""

    @abstractmethod
    def final_norm(self, stack: Stack) -> Norm | None:
        """The norm after the last layer of a stack, where there is one."""

    @abstractmethod
    def attention(self, site: str, layer: int) -> AttentionWeights:
        """W_Q, W_K and W_V of an attention, by head."""

    @abstractmethod
    def output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention, cut into each head's own rows (§3.2.2)."""

    @abstractmethod
    def output_bias(self, site: str, layer: int) -> Float[Tensor, "d_model"] | None:
        """What an attention adds whatever its heads put out; None for nothing."""

    @abstractmethod
    def feed_forward(self, stack: Stack, layer: int) -> FeedForwardWeights:
        """The matrices of a feed-forward network."""

    @abstractmethod
    def unembedding(self) -> Float[Tensor, "token d_model"]:
        """By which the decoder's last vectors are multiplied: a row for each token."""

    @abstractmethod
    def logits(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
        """The logits of vectors that have gone through the final norm, where the model computes, in float32."""

    @abstractmethod
    def layer_inputs(
        self,
        site: str,
        layer: int,
        rows: Float[Tensor, "row d_model"],
        memory: Float[Tensor, "key d_model"] | None = None,
        distance: int = 0,
    ) -> AttentionInputs:
        """Queries, keys and values of an attention for any vectors of the stream, all at the same position.

        Args:
            site, layer: of the attention.
            rows: of the stream that its sub-layer reads, before its norm: each as a query, and, in self-attention, as a
                key too.
            memory: of cross-attention, the vectors that the encoder would put out, as keys.
            distance: where positions turn queries and keys (Su et al. 2021), how far keys stand before queries.
        """

    @abstractmethod
    def run(self, trace: Trace, edits: Edits | None = None, at: Mapping[Stack, int] | None = None) -> Run:
        """Run a trace again, under its own edits or these, and keep what adds up.

        `at`: of each stack to keep, the row; by default all rows of all stacks that the trace has tokens of.
        """
