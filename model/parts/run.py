"""What a run of a model adds up to the residual stream, sub-layer by sub-layer.

The stream is the vector that goes through all layers (§3.1: x + Sublayer(x)); Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits", for reading it as a sum. All tensors are float32 on the CPU.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError, said
from model.nn.encoder_decoder import site_path
from model.nn.hooks import Edit, listen
from model.parts.weights import Kind, Norm, Stack
from model.trace.trace import Trace

NOT_FOUND: Final = said(
    "No module outputs of this model add up to the outputs of its layers, so what each sub-layer adds is unknown: "
    "the model may scale what it adds."
)
NOT_ALIKE: Final = said(
    "Between its attentions this model treats positions differently, so what it adds at some of them is unknown."
)
#: Of a stack: one position, some, or all.
Rows = int | tuple[int, ...] | None
#: How far values may be from those of a trace, as a share of the largest: rounding of float32.
SAME: Final = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class NormStep:
    """Vectors before and after a norm."""

    norm: Norm
    before: Float[Tensor, "*rows d_model"]
    after: Float[Tensor, "*rows d_model"]


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadParts:
    """What each head of an attention computed for one position."""

    query: Float[Tensor, "head d_k"]  #: of this position
    #: key, value: of this position, which others look at; None in cross-attention, where they come from the source.
    key: Float[Tensor, "kv_head d_k"] | None
    value: Float[Tensor, "kv_head d_v"] | None
    output: Float[Tensor, "head d_v"]  #: weights · value, before W_O
    #: the same times the head's rows of W_O; with `bias` they add up to what the attention adds.
    parts: Float[Tensor, "head d_model"]
    bias: Float[Tensor, "d_model"] | None


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
    heads: HeadParts | None = None  #: of an attention at one position that is followed, as far as the model tells

    @property
    def norm_place(self) -> Literal["pre", "post", ""]:
        """Whether its norm stands before the sub-layer or after the sum; "" without a norm that is known."""
        if self.norm is None:
            return ""
        return "post" if self.is_post else "pre"

    @property
    def share(self) -> float:
        """How much of the sum is what was added: that of what came in is 1 minus it (`share_of_sum`)."""
        return share_of_sum(self.added, self.summed)

    @property
    def cosine(self) -> float:
        """The cosine of the angle between what was added and the sum; 0 where one has no length."""
        return float(torch.cosine_similarity(self.added, self.summed, dim=0))


def share_of_sum(part: Float[Tensor, "*shape d_model"], total: Float[Tensor, "*shape d_model"]) -> float:
    """part · total / ‖total‖²: the projection of a part on the sum, as a share; those of all parts add up to 1."""
    return float((part * total).sum() / (total * total).sum().clamp_min(torch.finfo(total.dtype).tiny))


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerRun:
    """One layer that can be run again on what it read, at every row."""

    stack: Stack  #: where it stands
    values: Mapping[str, tuple[str, int]]  #: site → the hook of its values, and how many keys it has
    again: Callable[[int], Float[Tensor, "copy row d_model"]]  #: its outputs, in so many copies

    @property
    def rows(self) -> int:
        """Positions that it reads and puts out."""
        return self.values[f"{self.stack}.self"][1]

    def without(self, site: str, positions: Sequence[int]) -> Float[Tensor, "copy row d_model"]:
        """Its outputs without the values of a key of a site: a copy for each of these positions."""

        def zero(value: Float[Tensor, "copy head key d_v"]) -> Tensor:
            value = value.clone()
            value[torch.arange(len(positions)), :, list(positions)] = 0.0
            return value

        with listen(edits={self.values[site][0]: zero}):
            return self.again(len(positions))


@contextmanager
def heads_as_in(
    trace: Trace, stack: Stack, rows: Sequence[int], record: Set[str] = frozenset()
) -> Iterator[Mapping[str, list[Any]]]:
    """While the block runs a stack over these rows of a trace alone, its heads put out what they did there.

    Yields what is recorded, at these hooks too, by full name.

    Raises a TraceError at its end if the values of these rows are not those of the trace: then the stream is another.
    """
    sites = [site for site in trace.sites if site.startswith(stack)]

    def put_out(site: str, layer: int) -> Edit:
        def edited(output: Float[Tensor, "batch head row d_v"]) -> Float[Tensor, "batch head row d_v"]:
            found = trace.head_output(site, layer, rows=list(rows)).transpose(0, 1).contiguous().transpose(0, 1)
            return found[None].to(output)

        return edited

    named = {
        f"{site_path(site, layer)}.hook_head_output": put_out(site, layer)
        for site in sites
        for layer in range(trace.layers_of(site))
    }
    with listen(record={"hook_value", *record}, edits=named) as recorded:
        yield recorded
    own = f"{stack}.self"
    for layer in range(trace.layers_of(own)):
        known = trace.attention(own, layer).value[:, list(rows)].float()
        found = recorded[f"{site_path(own, layer)}.hook_value"][0][0].float().cpu()
        if float((found - known).abs().max()) > SAME * float(known.abs().max()):
            raise TraceError(NOT_ALIKE)


@dataclass(frozen=True, eq=False)
class Change:
    """Vectors in place of what a sub-layer adds at some rows; `number` −1: of what the first layer reads there."""

    stack: Stack
    number: int  #: of the sub-layer, in the order of `Parts.sublayers`
    rows: tuple[int, ...]
    vectors: Float[Tensor, "row d_model"]

    def __call__(self, value: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position d_model"]:
        """The value with these rows changed: an edit of a pass that reads all rows at once."""
        changed = value.clone()
        changed[:, list(self.rows)] = self.vectors.to(value)
        return changed


class Run(ABC):
    """What a run added up. Tensors are float32 on the CPU, with every row of a stack, or the one that was asked for."""

    @property
    @abstractmethod
    def trace(self) -> Trace:
        """A trace of this run."""

    @abstractmethod
    def levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """The residual stream: what the first layer reads (level 0), what each puts out, before any final norm."""

    def all_levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """As `levels`, and after each layer without attention too, where a model has such."""
        return self.levels(stack)

    @abstractmethod
    def additions(self, stack: Stack) -> tuple[tuple[Addition, ...], ...]:
        """Of each layer, what its sub-layers add, in order."""

    @abstractmethod
    def layers(self) -> Iterator[LayerRun]:
        """Every layer, the encoder's first, of a run that keeps all rows."""

    @abstractmethod
    def changed(self, changes: Sequence[Change]) -> AbstractContextManager[object]:
        """In this block and thread one pass over the same tokens, or more, has these in place of what it adds.

        All that lies above reads them. At most one change of each sub-layer.
        """
