"""Run a trace of one of our Transformers once more and keep what stands between the outputs of its layers."""

from dataclasses import dataclass
from typing import Final, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.nn.hooks import STREAM
from model.parts.weights import Kind, Stack
from model.trace.trace import Trace
from model.translator import Translator

_MODULES: Final = {"self": "self_attention", "cross": "cross_attention", "feed_forward": "feed_forward"}


@dataclass(frozen=True)
class Sublayer:
    """One sub-layer of a model."""

    stack: Stack
    layer: int
    kind: Kind

    @property
    def path(self) -> str:
        """Its module path; that of its residual connection has "_residual" behind."""
        return f"{self.stack}.layers.{self.layer}.{_MODULES[self.kind]}"

    @property
    def site(self) -> str | None:
        """The attention site that it is; None of a feed-forward network."""
        return None if self.kind == "feed_forward" else f"{self.stack}.{self.kind}"

    @property
    def previous(self) -> "Sublayer | None":
        """The one whose output it reads; None of the first."""
        order = kinds(self.stack)
        index = order.index(self.kind)
        if index:
            return Sublayer(self.stack, self.layer, order[index - 1])
        return Sublayer(self.stack, self.layer - 1, order[-1]) if self.layer else None


@dataclass(frozen=True, eq=False)
class CapturedRun:
    """A trace with the residual stream at every sub-layer. All tensors are float32 on the CPU, one row a position."""

    translator: Translator
    trace: Trace

    def recorded(self, name: str) -> Float[Tensor, "*rows width"]:
        """What a hook point recorded."""
        return self.trace.recorded[name].float()

    def begin(self, stack: Stack) -> Float[Tensor, "position d_model"]:
        """What the first layer reads: embeddings, and positions where the model adds any."""
        parts = [f"{stack}.embedding.hook_{part}" for part in ("embedding", "positional")]
        return torch.stack([self.recorded(part) for part in parts if part in self.trace.recorded]).sum(0)

    def count(self, stack: Stack) -> int:
        """Layers of a stack."""
        config = self.translator.config
        return config.num_layers if stack == "encoder" else config.decoder_layers

    def before(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """The residual stream that comes into a sub-layer."""
        previous = sublayer.previous
        return self.begin(sublayer.stack) if previous is None else self.after(previous)

    def added(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """What a sub-layer puts out."""
        return self.recorded(f"{sublayer.path}_residual.hook_sublayer")

    def summed(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """Stream and addition together."""
        return self.recorded(f"{sublayer.path}_residual.hook_sum")

    def normed(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """What the norm of a sub-layer puts out."""
        return self.recorded(f"{sublayer.path}_residual.hook_normed")

    def after(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """The residual stream that goes on."""
        return self.summed(sublayer) if self.is_pre_norm else self.normed(sublayer)

    def norm_input(self, sublayer: Sublayer) -> Float[Tensor, "position d_model"]:
        """What the norm of a sub-layer reads: of pre-norm what comes in, of post-norm (§3.1) the sum."""
        return self.before(sublayer) if self.is_pre_norm else self.summed(sublayer)

    def norm_of(self, sublayer: Sublayer) -> nn.LayerNorm:
        """The norm of a sub-layer."""
        return cast(nn.LayerNorm, self.translator.model.get_submodule(f"{sublayer.path}_residual.norm"))

    @property
    def is_pre_norm(self) -> bool:
        """Whether norms stand before the sub-layers."""
        return self.translator.config.norm == "pre"


def kinds(stack: Stack) -> tuple[Kind, ...]:
    """The sub-layers of each layer of a stack, in order (§3.1)."""
    return ("self", "feed_forward") if stack == "encoder" else ("self", "cross", "feed_forward")


def capture(translator: Translator, trace: Trace) -> CapturedRun:
    """Run a trace of this model again; what edits did to its heads they do again.

    Raises an InputTextError or TokenError if the trace is of another model, with another vocabulary.
    """
    written = [step.token_id for step in trace.steps]
    extras = {*STREAM, "hook_head_output"}
    return CapturedRun(translator, translator.trace_tokens(trace.text, written, extras=extras, edits=trace.edits))
