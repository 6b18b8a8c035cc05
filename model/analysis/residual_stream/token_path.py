"""Follow one position through all layers of one of our Transformers, from its embedding to the logits (figure 1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.analysis.residual_stream.additions import (
    Addition,
    HeadParts,
    NormStep,
    Stack,
    TokenPath,
    deviation,
    head_parts,
    token_at,
)
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, kinds
from model.nn.layers import Embedding, FeedForward
from model.trace.trace import ROUNDING


@dataclass(frozen=True, eq=False, kw_only=True)
class NormedBatch:
    """The tokens of several sentences before and after both norms. Without what a norm learns: gain 1, bias 0."""

    tokens: tuple[str, ...]  #: all rows, one sentence after the other
    sentences: tuple[int, ...]  #: of each row, the number of its sentence, from 0
    row: int  #: of the token that is followed; it is in the first sentence
    before: Float[Tensor, "row d_model"]
    layer_normed: Float[Tensor, "row d_model"]
    batch_normed: Float[Tensor, "row d_model"]


def layer_norm(
    x: Float[Tensor, "*rows d_model"],
    gain: Float[Tensor, "d_model"] | None = None,
    bias: Float[Tensor, "d_model"] | None = None,
    *,
    epsilon: float = 1e-5,
) -> Float[Tensor, "*rows d_model"]:
    """(x − mean) / √(variance + ε) · gain + bias, mean and variance of each row over its own d_model numbers.

    Ba, Kiros & Hinton 2016 (arXiv 1607.06450), the paper's LayerNorm (§3.1).
    """
    centred = x - x.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + epsilon).sqrt()
    scaled = normed if gain is None else normed * gain
    return scaled if bias is None else scaled + bias


def batch_norm(x: Float[Tensor, "row d_model"], *, epsilon: float = 1e-5) -> Float[Tensor, "row d_model"]:
    """(x − mean) / √(variance + ε), mean and variance of each column over all rows of the batch, as in training.

    Ioffe & Szegedy 2015 (arXiv 1502.03167).
    """
    return layer_norm(x.T, epsilon=epsilon).T


def normed_batch(runs: Sequence[CapturedRun], sublayer: Sublayer, position: int) -> NormedBatch:
    """What the norm of a sub-layer reads of every token of these sentences, and what both norms make of it.

    `runs` are of the sentence with the token that is followed, and of further ones, by the same model.
    """
    sides = [run.trace.source_tokens if sublayer.stack == "encoder" else run.trace.target_tokens for run in runs]
    before = torch.cat([run.norm_input(sublayer) for run in runs])
    epsilon = runs[0].norm_of(sublayer).eps
    return NormedBatch(
        tokens=tuple(token for side in sides for token in side),
        sentences=tuple(number for number, side in enumerate(sides) for _ in side),
        row=position,
        before=before,
        layer_normed=layer_norm(before, epsilon=epsilon),
        batch_normed=batch_norm(before, epsilon=epsilon),
    )


@torch.inference_mode()
def follow(run: CapturedRun, stack: Stack, position: int) -> TokenPath:
    """Every part that a position's residual stream is the sum of, and how far the sums are from what the model said.

    Raises a TraceError if the stack reads no token at this position.
    """
    trace = run.trace
    token = token_at(trace, stack, position)
    sublayers = [[Sublayer(stack, layer, kind) for kind in kinds(stack)] for layer in range(run.count(stack))]
    layers = tuple(tuple(_addition(run, sublayer, position) for sublayer in layer) for layer in sublayers)
    parts = [trace.recorded.get(f"{stack}.embedding.hook_{part}") for part in ("embedding", "positional")]
    embedding, positional = (None if part is None else part[position].float() for part in parts)
    home = run.translator.model.get_submodule(stack)
    *_, (*_, last) = layers
    final = _norm_step(cast(nn.Module, home.norm), last.after)
    candidates = tuple(trace.steps[position].candidates) if stack == "decoder" else ()
    logits = _logits(run, last.after if final is None else final.after) if candidates else None
    off = [*_deviations(run, sublayers, layers, position)]
    if logits is not None:
        said = torch.tensor([candidate.log_prob for candidate in candidates])
        off.append(deviation(logits.log_softmax(-1)[[candidate.token_id for candidate in candidates]], said))
    return TokenPath(
        stack=stack,
        position=position,
        token=token,
        scale=cast(Embedding, home.embedding).scale,
        embedding=embedding,
        positional=positional,
        begin=run.begin(stack)[position],
        layers=layers,
        final_norm=final,
        candidates=candidates,
        logits=() if logits is None else tuple(float(logits[candidate.token_id]) for candidate in candidates),
        deviation=max(off),
        tolerance=ROUNDING[next(home.parameters()).dtype],
    )


def _addition(run: CapturedRun, sublayer: Sublayer, position: int) -> Addition:
    before, normed = run.before(sublayer)[position], run.normed(sublayer)[position]
    hidden = None
    if sublayer.kind == "feed_forward":
        hidden = run.recorded(f"{sublayer.path}.hook_hidden")[position]
    return Addition(
        kind=sublayer.kind,
        before=before,
        read=normed if run.is_pre_norm else before,
        added=run.added(sublayer)[position],
        summed=run.summed(sublayer)[position],
        after=run.after(sublayer)[position],
        norm=_with_learned(run.norm_of(sublayer), run.norm_input(sublayer)[position], normed),
        heads=_heads(run, sublayer, position),
        hidden=hidden,
        has_skip=run.translator.config.residual,
    )


def _heads(run: CapturedRun, sublayer: Sublayer, position: int) -> HeadParts | None:
    site = sublayer.site
    if site is None:
        return None
    inputs = run.trace.attention(site, sublayer.layer)
    output = run.recorded(f"{sublayer.path}.hook_head_output")[:, position]
    projection = run.translator.output_projection(site, sublayer.layer)
    bias = run.translator.model.get_submodule(f"{sublayer.path}.output").get_parameter("bias")
    return head_parts(inputs, sublayer.kind, position, output, projection, _on_cpu(bias))


def _norm_step(norm: nn.Module, before: Float[Tensor, "d_model"]) -> NormStep | None:
    """What a norm after the last layer makes of the stream; None of a stack without one."""
    if not isinstance(norm, nn.LayerNorm):
        return None
    after = norm(before.to(norm.weight.device, norm.weight.dtype))
    return _with_learned(norm, before, _on_cpu(after))


def _with_learned(norm: nn.LayerNorm, before: Float[Tensor, "d_model"], after: Float[Tensor, "d_model"]) -> NormStep:
    return NormStep(
        before=before, after=after, gain=_on_cpu(norm.weight), bias=_on_cpu(norm.bias), epsilon=float(norm.eps)
    )


def _logits(run: CapturedRun, state: Float[Tensor, "d_model"]) -> Float[Tensor, "vocab"]:
    projection = run.translator.model.projection
    return _on_cpu(projection(state.to(projection.weight.device, projection.weight.dtype)))


def _deviations(
    run: CapturedRun, sublayers: Sequence[Sequence[Sublayer]], layers: Sequence[Sequence[Addition]], position: int
) -> Iterator[float]:
    """How far what the parts make is from what the model computed: sums, heads, norms, hidden units, layer outputs."""
    for group, additions in zip(sublayers, layers, strict=True):
        for sublayer, addition in zip(group, additions, strict=True):
            yield deviation(addition.before * addition.has_skip + addition.added, addition.summed)
            if (norm := addition.norm) is not None:
                again = layer_norm(norm.before, norm.gain, norm.bias, epsilon=norm.epsilon or 0.0)
                yield deviation(again, norm.after)
            if (heads := addition.heads) is not None and heads.bias is not None:
                yield deviation(heads.parts.sum(0) + heads.bias, addition.added)
            if addition.hidden is not None and addition.read is not None:
                yield from _feed_forward_deviations(run, sublayer, addition.read, addition.hidden, addition.added)
        output = run.recorded(f"{group[0].stack}.layers.{group[0].layer}.hook_output")[position]
        yield deviation(additions[-1].after, output)


def _feed_forward_deviations(
    run: CapturedRun, sublayer: Sublayer, read: Tensor, hidden: Tensor, added: Tensor
) -> Iterator[float]:
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (§3.3), once more from its weights."""
    network = cast(FeedForward, run.translator.model.get_submodule(sublayer.path))
    inner, outer = network.inner, network.outer
    again = network.activation(_on_cpu(inner.weight) @ read + _on_cpu(inner.bias))
    yield deviation(again, hidden)
    yield deviation(_on_cpu(outer.weight) @ hidden + _on_cpu(outer.bias), added)


def _on_cpu(values: Tensor) -> Tensor:
    return values.detach().float().cpu()
