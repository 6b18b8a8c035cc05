"""What every model's parts can be asked for: `reader.parts`, whichever model it is.

Two modules alone know whose model it is: `model.parts.ours`, and `model.adapters.library_parts` for those of
`transformers`. What a model does not have, or does not tell, raises a TraceError with one sentence.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities
from model.errors import EditError, TraceError
from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import Edits
from model.parts.removal import PartOff
from model.parts.run import Addition, Rows, Run
from model.parts.weights import (
    AttentionWeights,
    Beginning,
    Embedding,
    FeedForwardWeights,
    InnerNorms,
    Kind,
    Norm,
    Norms,
    Stack,
    Start,
    Sublayer,
)
from model.trace.trace import Trace


class Parts:
    """The parts of one model: none, with a sentence that says why; a builder overrides what its models have."""

    abilities: Abilities
    why = ""  #: why nothing of the stream of tokens is known, as a sentence; "" where it is

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

    @property
    def tolerance(self) -> float:
        """How far recomputed sums may be from the model's, as a share, by rounding alone."""
        raise TraceError(self.why)

    def table(self, stack: Stack) -> Float[Tensor, "token width"]:
        """The matrix of a stack's token embeddings: a row for each token."""
        raise TraceError(self.why)

    def embedding(self, stack: Stack) -> Embedding:
        """What is done to the token embeddings of a stack."""
        raise TraceError(self.why)

    def embed(self, stack: Stack, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
        """What a stack's first layer would read of tokens, but for what is added for their positions."""
        raise TraceError(self.why)

    def positional(self, trace: Trace) -> Float[Tensor, "..."] | None:
        """What positions are known by [position, d_model]: the table of what is added, from the first position on.

        Where they rotate queries and keys instead, θ of every pair of dimensions, in radians a token [pair], of the
        first set where layers have several. They are seen in a run over the trace's tokens. None where not told.
        """
        return None

    def beginning(self, trace: Trace, stack: Stack) -> Beginning:
        """The embeddings and the positional encodings whose sum a stack began with when it read a trace's tokens."""
        side = "source" if stack == "encoder" else "target"
        return Beginning(trace.embedding[side], trace.positional[side])

    def norms(self, sublayer: Sublayer) -> Norms:
        """The norms of a sub-layer."""
        raise TraceError(self.why)

    def final_norm(self, stack: Stack) -> Norm | None:
        """The norm after the last layer of a stack, where there is one."""
        raise TraceError(self.why)

    def attention(self, site: str, layer: int) -> AttentionWeights:
        """W_Q, W_K and W_V of an attention, by head."""
        raise TraceError(self.why)

    def inner_norms(self, site: str, layer: int) -> InnerNorms:
        """The norms of an attention's projected queries and keys, as far as they are found."""
        return InnerNorms()

    def output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention, cut into each head's own rows (§3.2.2)."""
        raise TraceError(self.why)

    def output_bias(self, site: str, layer: int) -> Float[Tensor, "d_model"] | None:
        """What an attention adds whatever its heads put out; None for nothing."""
        raise TraceError(self.why)

    def feed_forward(self, stack: Stack, layer: int) -> FeedForwardWeights:
        """The matrices of a feed-forward network."""
        raise TraceError(self.why)

    def unembedding(self) -> Float[Tensor, "token d_model"]:
        """By which the decoder's last vectors are multiplied: a row for each token."""
        raise TraceError(self.why)

    @property
    def num_tokens(self) -> int:
        """Tokens that have a logit."""
        raise TraceError(self.why)

    def logits(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
        """The logits of vectors that have gone through the final norm, where the model computes, in float32."""
        raise TraceError(self.why)

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
        raise TraceError(self.why)

    def without(self, off: PartOff) -> AbstractContextManager[object]:
        """In this block and thread the model runs without a part. Raises an EditError if it has none, or keeps it."""
        raise EditError(self.abilities.lacks.get("switches", self.why))

    def run(self, trace: Trace, edits: Edits | None = None, at: Mapping[Stack, Rows] | None = None) -> Run:
        """Run a trace again, under its own edits or these, and keep what adds up.

        `at`: of each stack to keep, the row or rows; by default all rows of all stacks that the trace has tokens of.
        """
        raise TraceError(self.why)

    def start(self, trace: Trace, stack: Stack) -> Start:
        """What the first layer of a stack read in the run of a trace, without running all of them."""
        raise TraceError(self.why)

    def additions_at(
        self, trace: Trace, stack: Stack, rows: Sequence[int], start: Float[Tensor, "row d_model"]
    ) -> tuple[Addition, ...]:
        """What each sub-layer of a stack added at these rows in the run of a trace, in order.

        Only these rows are computed, from what the first layer read there (`start`) on: heads put out what they did in
        the trace, and all else is done at each position alike (§3.3). It is the same stream where values come out as
        they are in the trace; else it raises a TraceError.
        """
        raise TraceError(self.why)
