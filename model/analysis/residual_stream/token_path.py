"""Follow one position through all layers of a model, from its embedding to the logits (figure 1)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError
from model.parts.parts import Parts
from model.parts.run import Addition, HeadParts, NormStep
from model.parts.weights import Stack, Sublayer
from model.reader import Reader
from model.trace.steps import Candidate
from model.trace.trace import Trace


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
    logits: tuple[float, ...] = ()  #: of these; none where they do not give the candidates' probabilities
    #: how far the sums of the parts are from what the model computed, at most: as a share of the largest number of what
    #: is compared, or of 1 if that is smaller.
    deviation: float
    tolerance: float  #: how far rounding can take them in the numbers that the model computes in


@torch.inference_mode()
def follow(reader: Reader, trace: Trace, stack: Stack, position: int) -> TokenPath:
    """Every part that a position's residual stream is the sum of, and how far the sums are from what the model said.

    Raises a TraceError if the stack reads no token at this position, or the model does not tell its parts.
    """
    tokens = trace.source_tokens if stack == "encoder" else trace.target_tokens
    if not 0 <= position < len(tokens):
        message = "The {stack} reads {num_tokens} tokens, numbered from 0; there is no token at position {position}."
        raise TraceError(message, stack=stack, num_tokens=len(tokens), position=position)
    parts = reader.parts
    run = parts.run(trace, at={stack: position})
    layers = tuple(
        tuple(_with_heads(parts, trace, Sublayer(stack, number, one.kind), one, position) for one in layer)
        for number, layer in enumerate(run.additions(stack))
    )
    begin, *ends = run.levels(stack)
    scale, embedding, positional = beginning(parts, trace, stack, slice(position, position + 1), begin[None])
    *_, (*_, last) = layers
    norm = parts.final_norm(stack)
    final = None if norm is None else NormStep(norm=norm, before=last.after, after=norm(last.after))
    step = position - trace.rows_before if stack == "decoder" else -1
    candidates = tuple(trace.steps[step].candidates) if 0 <= step < len(trace.steps) else ()
    return TokenPath(
        stack=stack,
        position=position,
        token=tokens[position],
        scale=scale,
        embedding=None if embedding is None else embedding[0],
        positional=None if positional is None else positional[0],
        begin=begin,
        layers=layers,
        final_norm=final,
        candidates=candidates,
        logits=_logits(parts, last.after if final is None else final.after, candidates),
        deviation=max(_deviations(layers, ends)),
        tolerance=parts.tolerance,
    )


def beginning(
    parts: Parts, trace: Trace, stack: Stack, rows: slice, begin: Float[Tensor, "row d_model"]
) -> tuple[float | None, Float[Tensor, "row d_model"] | None, Float[Tensor, "row d_model"] | None]:
    """The scale of embeddings, the embeddings of some rows, and what is added to them where the stream begins as their
    sum; None where there is nothing or the model does not tell."""
    with suppress(TraceError):
        known = parts.embedding(stack)
        if known.norm is None:
            ids = trace.source_ids if stack == "encoder" else trace.target_ids
            embedding = parts.embed(stack, ids[rows])
            is_all = deviation(embedding, begin) <= parts.tolerance
            return known.scale, embedding, None if is_all else begin - embedding
    return None, None, None


def _with_heads(parts: Parts, trace: Trace, sublayer: Sublayer, addition: Addition, position: int) -> Addition:
    """An addition with what each head of its attention computed: Concat(head_1 … head_h) W_O is a sum over heads
    (§3.2.2); without, where that is not what the attention adds."""
    site = sublayer.site
    if site is None or site not in trace.sites:
        return addition
    inputs, is_own = trace.attention(site, sublayer.layer), sublayer.kind == "self"
    output = inputs.head_output(rows=slice(position, position + 1))[:, 0].cpu()
    found = head_parts(parts, sublayer, addition, output)
    if found is None:
        return addition
    heads = HeadParts(
        query=inputs.query[:, position].float().cpu(),
        key=inputs.key[:, position].float().cpu() if is_own else None,
        value=inputs.value[:, position].float().cpu() if is_own else None,
        output=output,
        parts=found[0],
        bias=found[1],
    )
    return replace(addition, heads=heads)


def head_parts(
    parts: Parts, sublayer: Sublayer, addition: Addition, output: Float[Tensor, "head *rows d_v"]
) -> tuple[Float[Tensor, "head *rows d_model"], Float[Tensor, "... d_model"] | None] | None:
    """What each head's output adds to the stream, through any norm and factor of what its attention puts out, and the
    rest, if any; None where they do not add up to what the attention adds."""
    site = sublayer.site
    assert site is not None
    with suppress(TraceError):
        of_heads = torch.einsum("h...v,hvd->h...d", output, parts.output(site, sublayer.layer).float().cpu())
        bias = parts.output_bias(site, sublayer.layer)
        if (through := addition.output_norm) is not None:
            of_heads = through.norm.linear(of_heads, through.before)
            bias = through.norm.linear(torch.zeros_like(addition.added) if bias is None else bias, through.before)
            bias = bias if through.norm.bias is None else bias + through.norm.bias
        total = _total(of_heads, bias)
        if deviation(total, addition.added) > parts.tolerance:  # Some multiply what an attention adds (Granite).
            factor = float((total * addition.added).sum() / total.square().sum())
            of_heads, bias = of_heads * factor, None if bias is None else bias * factor
        if deviation(_total(of_heads, bias), addition.added) <= parts.tolerance:
            return of_heads, bias
    return None


def _total(
    of_heads: Float[Tensor, "head *rows d_model"], bias: Float[Tensor, "... d_model"] | None
) -> Float[Tensor, "*rows d_model"]:
    total = of_heads.sum(0)
    return total if bias is None else total + bias


def _logits(parts: Parts, state: Float[Tensor, "d_model"], candidates: Sequence[Candidate]) -> tuple[float, ...]:
    """The logits of the candidates, where they give their probabilities."""
    if not candidates:
        return ()
    ids = [candidate.token_id for candidate in candidates]
    said = torch.tensor([candidate.log_prob for candidate in candidates])
    with suppress(TraceError):
        logits = parts.logits(state[None])[0].cpu()
        if deviation(logits.log_softmax(-1)[ids], said) <= parts.tolerance:
            return tuple(logits[ids].tolist())
    return ()


def _deviations(layers: Sequence[Sequence[Addition]], ends: Sequence[Float[Tensor, "d_model"]]) -> Iterator[float]:
    """How far what the parts make is from what the model computed: sums, heads, norms, hidden units, layer outputs."""
    for layer, end in zip(layers, ends, strict=True):
        for addition in layer:
            yield deviation(addition.before * addition.has_skip + addition.added, addition.summed)
            for step in (addition.norm, addition.output_norm):
                if step is not None:
                    yield deviation(step.norm(step.before), step.after)
            if addition.heads is not None:
                yield deviation(_total(addition.heads.parts, addition.heads.bias), addition.added)
        yield deviation(layer[-1].after, end)


def deviation(recomputed: Tensor, real: Tensor) -> float:
    """The largest difference, as a share of the largest number of what is real, or of 1 if that is smaller."""
    return float((recomputed - real).abs().max() / real.abs().max().clamp_min(1.0))
