"""What a sub-layer adds to the residual stream of one position, as parts whose sums are what the model computed.

The stream is the vector that goes through all layers (§3.1: x + Sublayer(x)); Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits", for reading it as a sum. All tensors are float32 on the CPU.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError
from model.nn.attention import AttentionInputs
from model.parts.weights import Kind as Kind
from model.parts.weights import Stack as Stack
from model.trace.steps import Candidate
from model.trace.trace import Trace


@dataclass(frozen=True, eq=False, kw_only=True)
class NormStep:
    """One vector before and after a layer norm."""

    before: Float[Tensor, "d_model"]
    after: Float[Tensor, "d_model"]
    #: gain, bias: what is learned; None where the model does not tell, or has no bias.
    gain: Float[Tensor, "d_model"] | None = None
    bias: Float[Tensor, "d_model"] | None = None
    epsilon: float | None = None  #: added to the variance; None where the model does not tell
    is_centred: bool = True  #: whether the mean is taken off; an RMS norm only divides


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadParts:
    """What each head of an attention computed for this position."""

    query: Float[Tensor, "head d_k"]  #: of this position
    #: key, value: of this position, which others look at; None in cross-attention, where they come from the source.
    key: Float[Tensor, "kv_head d_k"] | None
    value: Float[Tensor, "kv_head d_v"] | None
    output: Float[Tensor, "head d_v"]  #: weights · value, before W_O
    #: the same times the head's rows of W_O; with `bias` they add up to what the attention puts out.
    parts: Float[Tensor, "head d_model"]
    bias: Float[Tensor, "d_model"] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Addition:
    """One sub-layer at one position."""

    kind: Kind
    before: Float[Tensor, "d_model"]  #: the residual stream that comes in
    read: Float[Tensor, "d_model"] | None  #: what the sub-layer reads of it: normed in a pre-norm model
    added: Float[Tensor, "d_model"]  #: what the sub-layer puts out
    #: stream and addition together; the addition alone in a model without residual connections.
    summed: Float[Tensor, "d_model"]
    after: Float[Tensor, "d_model"]  #: the residual stream that goes on: normed in a post-norm model
    norm: NormStep | None  #: the norm of this sub-layer; None where the model does not tell
    heads: HeadParts | None = None  #: of an attention, as far as the model tells
    #: the units of a feed-forward network after its activation, as far as the model tells.
    hidden: Float[Tensor, "d_ff"] | None = None
    #: whether each hidden unit is a product: activation(x W_gate) ⊙ x W_up (Shazeer 2020, arXiv 2002.05202).
    is_gated: bool = False
    has_skip: bool = True  #: whether what came in is added

    @property
    def norm_place(self) -> Literal["pre", "post", ""]:
        """Whether its norm stands before the sub-layer or after the sum; "" without a norm that is known."""
        if self.norm is None:
            return ""
        return "post" if self.read is self.before else "pre"

    @property
    def share(self) -> float:
        """How much of the sum is what was added: that of what came in is 1 minus it (`share_of_sum`)."""
        return share_of_sum(self.added, self.summed)

    @property
    def cosine(self) -> float:
        """The cosine of the angle between what was added and the sum."""
        return cosine(self.added, self.summed)


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenPath:
    """One position from its embedding to the last layer."""

    stack: Stack
    position: int  #: of the token in what the stack reads
    token: str  #: as its model spells it
    #: what the embedding was multiplied by, √d_model (§3.4); None where the model does not tell.
    scale: float | None = None
    embedding: Float[Tensor, "d_model"] | None = None  #: of the token, scaled; None where the model does not tell
    #: what was added for its position (§3.5); None where there is nothing or the model does not tell.
    positional: Float[Tensor, "d_model"] | None = None
    begin: Float[Tensor, "d_model"]  #: what the first layer reads
    layers: tuple[tuple[Addition, ...], ...]  #: of each layer, its sub-layers
    final_norm: NormStep | None  #: after the last layer, of a pre-norm model
    candidates: tuple[Candidate, ...]  #: of a decoder, the most probable next tokens, best first; none in an encoder
    logits: tuple[float, ...] = ()  #: of these; none where only their probabilities are known
    #: how far the sums of the parts are from what the model computed, at most: as a share of the largest number of what
    #: is compared, or of 1 if that is smaller.
    deviation: float
    tolerance: float  #: how far rounding can take them in the numbers that the model computes in


def token_at(trace: Trace, stack: Stack, position: int) -> str:
    """The token that a stack reads at a position. Raises a TraceError if there is none."""
    tokens = trace.source_tokens if stack == "encoder" else trace.target_tokens
    if not 0 <= position < len(tokens):
        message = "The {stack} reads {num_tokens} tokens, numbered from 0; there is none at {position}."
        raise TraceError(message, stack=stack, num_tokens=len(tokens), position=position)
    return tokens[position]


def head_parts(
    inputs: AttentionInputs,
    kind: Kind,
    position: int,
    output: Float[Tensor, "head d_v"],
    projection: Float[Tensor, "head d_v d_model"],
    bias: Float[Tensor, "d_model"] | None,
) -> HeadParts:
    """What each head computed: Concat(head_1 … head_h) W_O is a sum over heads (§3.2.2)."""
    is_own = kind == "self"
    return HeadParts(
        query=inputs.query[:, position].float(),
        key=inputs.key[:, position].float() if is_own else None,
        value=inputs.value[:, position].float() if is_own else None,
        output=output,
        parts=torch.einsum("hv,hvd->hd", output, projection),
        bias=bias,
    )


def share_of_sum(part: Float[Tensor, "*shape d_model"], total: Float[Tensor, "*shape d_model"]) -> float:
    """part · total / ‖total‖²: the projection of a part on the sum, as a share; those of all parts add up to 1."""
    return float((part * total).sum() / (total * total).sum().clamp_min(torch.finfo(total.dtype).tiny))


def cosine(one: Float[Tensor, "d_model"], other: Float[Tensor, "d_model"]) -> float:
    """The cosine of the angle between two vectors; 0 where one has no length."""
    return float(torch.cosine_similarity(one, other, dim=0))


def deviation(recomputed: Tensor, real: Tensor) -> float:
    """The largest difference, as a share of the largest number of what is real, or of 1 if that is smaller."""
    return float((recomputed - real).abs().max() / real.abs().max().clamp_min(1.0))
