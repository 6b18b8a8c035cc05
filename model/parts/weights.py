"""What a model has learned, part by part, in one form for every model. Tensors are float32 on the CPU."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor

Kind = Literal["self", "cross", "feed_forward"]
Stack = Literal["encoder", "decoder"]


class Beginning(NamedTuple):
    """What the layers of a stack read first is the sum of both, a row for each token."""

    embedding: Float[Tensor, "position d_model"]  #: as it is scaled
    positional: Float[Tensor, "position d_model"]  #: the positional encoding that is added


@dataclass(frozen=True)
class Sublayer:
    """One sub-layer of a model; layers count from 0."""

    stack: Stack
    layer: int
    kind: Kind

    @property
    def site(self) -> str | None:
        """The attention site that it is; None of a feed-forward network."""
        return None if self.kind == "feed_forward" else f"{self.stack}.{self.kind}"

    @classmethod
    def of_site(cls, site: str, layer: int) -> "Sublayer":
        """The sub-layer that an attention site is in a layer."""
        stack, kind = cast(tuple[Stack, Kind], site.split("."))
        return cls(stack, layer, kind)


def layer_norm(x: Float[Tensor, "*rows d_model"], *, epsilon: float = 1e-5) -> Float[Tensor, "*rows d_model"]:
    """(x − mean) / √(variance + ε), mean and variance of each row over its own d_model numbers.

    Ba, Kiros & Hinton 2016 (arXiv 1607.06450), the paper's LayerNorm (§3.1), without what it learns.
    """
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + epsilon).sqrt()


@dataclass(frozen=True, eq=False, kw_only=True)
class Norm:
    """x ↦ (x − mean) / √(variance + ε) · gain + bias of each vector; `layer_norm`, and what it has learned.

    An RMS norm (Zhang & Sennrich 2019, arXiv 1910.07467) takes no mean off.
    """

    gain: Float[Tensor, "d_model"]
    bias: Float[Tensor, "d_model"] | None
    epsilon: float  #: added to the variance
    is_centred: bool  #: whether the mean is taken off

    def __call__(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """The norm of vectors, in their own number type."""
        normed = self.linear(x, x)
        return normed if self.bias is None else normed + self.bias.to(x)

    def linear(
        self, x: Float[Tensor, "*rows d_model"], whole: Float[Tensor, "*rows d_model"] | None = None
    ) -> Float[Tensor, "*rows d_model"]:
        """What the norm makes of parts of a vector, but for its bias: a linear map with the divisor of the whole.

        Without a whole nothing is divided: the mean is taken off, the gain multiplied.
        """
        scaled = self._centred(x) * self.gain.to(x)
        if whole is None:
            return scaled
        return scaled / self.divisor(whole)

    def divisor(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows 1"]:
        """By what each vector is divided."""
        return (self._centred(x).square().mean(-1, keepdim=True) + self.epsilon).sqrt()

    def back(
        self, c: Float[Tensor, "*rows d_model"], whole: Float[Tensor, "*rows d_model"]
    ) -> Float[Tensor, "*rows d_model"]:
        """What c · norm(x) asks of x, but for the bias: `linear`, transposed, with the divisor of the whole."""
        return self._centred(c * self.gain.to(c)) / self.divisor(whole)

    def _centred(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        return x - x.mean(-1, keepdim=True) if self.is_centred else x


@dataclass(frozen=True, eq=False, kw_only=True)
class Norms:
    """The norms of one sub-layer; None where there is none."""

    before: Norm | None = None  #: pre-norm: of the stream, as the sub-layer reads it
    of_output: Norm | None = None  #: of what it puts out, before that is added (Gemma 2, arXiv 2408.00118)
    after: Norm | None = None  #: post-norm (§3.1): of the sum


@dataclass(frozen=True, eq=False, kw_only=True)
class Start:
    """What the first layer of a stack reads of some tokens, and the sum that it is, a row for each token."""

    read: Float[Tensor, "row d_model"]
    summed: Float[Tensor, "row d_model"]  #: what `norm` makes `read` of; the same without one
    norm: Norm | None = None
    embedding: Float[Tensor, "row d_model"] | None = None  #: as it is scaled; None where the sum is not told apart
    positional: Float[Tensor, "row d_model"] | None = None  #: what is added for positions; the rest is of token types


@dataclass(frozen=True, eq=False, kw_only=True)
class Embedding:
    """What is done to the rows of the matrix of a stack's tokens."""

    scale: float  #: by what they are multiplied: √d_model in the paper (§3.4)
    norm: Norm | None = None  #: a norm of what is embedded and added for positions, before the first layer


@dataclass(frozen=True, eq=False, kw_only=True)
class Projection:
    """x ↦ x W + b of each head: W_Q, W_K or W_V (§3.2.2)."""

    weight: Float[Tensor, "head d_model width"]
    bias: Float[Tensor, "head width"] | None

    def __call__(self, x: Float[Tensor, "row d_model"]) -> Float[Tensor, "head row width"]:
        """The vectors of each head."""
        projected = torch.einsum("rd,hdw->hrw", x, self.weight.to(x))
        return projected if self.bias is None else projected + self.bias[:, None].to(x)

    def after(self, before: "Projection") -> "Projection":
        """The same of what another, as of one head, is given: x ↦ (x W' + b') W + b."""
        weight = torch.einsum("dm,hmw->hdw", before.weight[0], self.weight)
        bias = self.bias
        if before.bias is not None:
            moved = torch.einsum("m,hmw->hw", before.bias[0], self.weight)
            bias = moved if bias is None else moved + bias
        return Projection(weight=weight, bias=bias)


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionWeights:
    """W_Q, W_K and W_V of an attention by head; where heads share keys and values, the shared ones stand once."""

    query: Projection  #: of each head
    key: Projection  #: of each head that keys and values are computed for ("kv_head")
    value: Projection


class InnerNorms(NamedTuple):
    """The norms of projected queries and keys, before positions turn them: of each head, or of all heads side by side.

    Henry et al. 2020 (arXiv 2010.04245).
    """

    query: Norm | None = None
    key: Norm | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class FeedForwardWeights:
    """FFN(x) = f(x W_1 + b_1) W_2 + b_2 (§3.3), or with gates (f(x W_g + b_g) ⊙ (x W_1 + b_1)) W_2 + b_2
    (Shazeer 2020, arXiv 2002.05202)."""

    inner: Projection  #: W_1, b_1, as of one head
    gate: Projection | None  #: W_g, b_g
    outer: Projection  #: W_2, b_2
    activation: Callable[[Tensor], Tensor]  #: f
    name: str  #: what f is called

    def hidden(self, x: Float[Tensor, "row d_model"]) -> Float[Tensor, "row d_ff"]:
        """The hidden units of what it reads."""
        (units,) = self.inner(x)
        return self.activation(units) if self.gate is None else self.activation(self.gate(x)[0]) * units
