"""Follow one position through a model of `transformers`, as far as its modules tell what they add.

What a module puts out is taken for an addition only where stream and addition together are what a norm then reads, or
what the layer puts out. So nothing is assumed of names, and what does not add up is not told.
"""

from itertools import pairwise
from typing import Final, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.layer_sums import FoundPart, find_parts
from model.adapters.library import LINEAR
from model.adapters.norms import final_norm, is_norm, norm_behind
from model.adapters.placement import weight_of
from model.adapters.stream_taps import LayerCall, ModuleCall, tapped
from model.adapters.text_reader import TextReader
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
from model.analysis.residual_stream.capture import kinds
from model.errors import TraceError, said
from model.trace.trace import ROUNDING, Trace

WEIGHTS_ONLY: Final = said("This model exposes only its attention weights, so what its sub-layers add is unknown.")
NOT_FOUND: Final = said(
    "No module outputs of this model add up to the outputs of its layers, so what each sub-layer adds is unknown: "
    "the model may scale what it adds."
)

BETWEEN: Final = said(
    "There are layers without attention between those that are shown, so a token cannot be followed from one to the "
    "next."
)


@torch.inference_mode()
def follow_in_library(reader: TextReader, trace: Trace, stack: Stack, position: int) -> TokenPath:
    """Every part that was found to add up; without the embedding's own parts, which the library does not tell.

    Raises a TraceError if the stack reads no token at this position, or the parts of the model are not known.
    """
    token = token_at(trace, stack, position)
    if not reader.abilities.knows_inputs:
        raise TraceError(WEIGHTS_ONLY)
    layers = _layer_calls(reader, trace, {stack: position})
    order = kinds(stack) if trace.source_tokens else ("self", "feed_forward")
    dtype = next(reader.model.parameters()).dtype
    steps = [(cast(Tensor, one.put_out), cast(Tensor, next_one.given)) for one, next_one in pairwise(layers)]
    if any(deviation(put_out, given) > tolerance_of(reader) for put_out, given in steps):
        raise TraceError(BETWEEN)
    found = [find_parts(layer, order, dtype) for layer in layers]
    if not layers or any(parts is None for parts in found):
        raise TraceError(NOT_FOUND)
    additions = tuple(
        tuple(_addition(reader, trace, stack, number, part, position) for part in cast(list[FoundPart], parts))
        for number, parts in enumerate(found)
    )
    off = [deviation(part.before + part.added, part.summed) for layer in additions for part in layer]
    off += [
        deviation(layer[-1].after, cast(Tensor, call.put_out)) for layer, call in zip(additions, layers, strict=True)
    ]
    off += [_head_deviation(part.heads, part.added) for layer in additions for part in layer if part.heads is not None]
    step = position - trace.rows_before if stack == "decoder" else -1
    return TokenPath(
        stack=stack,
        position=position,
        token=token,
        begin=additions[0][0].before,
        layers=additions,
        final_norm=_final_norm(reader, stack, additions[-1][-1].after),
        candidates=tuple(trace.steps[step].candidates) if 0 <= step < len(trace.steps) else (),
        deviation=max(off),
        tolerance=tolerance_of(reader),
    )


def _layer_calls(reader: TextReader, trace: Trace, rows: dict[Stack, int | None]) -> list[LayerCall]:
    with tapped(reader.model, reader.layout, rows) as layers:
        reader.run_again(trace)
    return layers


def _addition(reader: TextReader, trace: Trace, stack: Stack, layer: int, part: FoundPart, position: int) -> Addition:
    added, norm = part.addition.put_out, part.norm
    given = part.addition.given
    is_inner = part.kind == "feed_forward" and given is not None and given.numel() != added.numel()
    return Addition(
        kind=part.kind,
        before=part.before,
        read=part.before if norm is None or part.is_post else norm.put_out,
        added=added,
        summed=norm.given if part.is_post and norm is not None and norm.given is not None else part.before + added,
        after=part.after,
        norm=None if norm is None else _norm_step(reader, norm),
        heads=None
        if part.kind == "feed_forward"
        else _heads(reader, trace, f"{stack}.{part.kind}", layer, part, position),
        hidden=given if is_inner else None,
        is_gated=given is not None and is_inner and _is_gated(reader, part.addition.module, len(added), len(given)),
    )


def _is_gated(reader: TextReader, output: nn.Module, d_model: int, d_ff: int) -> bool:
    """Whether two matrices [d_model, d_ff], or one of both, stand before the output of a feed-forward network."""
    path = next(name for name, module in reader.model.named_modules() if module is output)
    network = reader.model.get_submodule(path.rpartition(".")[0])
    matrices = (each for each in network.modules() if isinstance(each, LINEAR) and each is not output)
    sizes = [matrix.get_parameter("weight").numel() for matrix in matrices]
    return sizes.count(d_model * d_ff) == 2 or sizes.count(2 * d_model * d_ff) == 1


def _heads(reader: TextReader, trace: Trace, site: str, layer: int, part: FoundPart, position: int) -> HeadParts | None:
    """What each head computed; None of what is not attention, or does not put out the sum of its heads."""
    projection, module = reader.layout.projection(site, layer), reader.layout.projections.get((site, layer))
    if site not in trace.sites or projection is None or module is None:
        return None
    inputs = trace.attention(site, layer)
    output = inputs.head_output(rows=slice(position, position + 1))[:, 0]
    found = head_parts(inputs, part.kind, position, output, projection, weight_of(module, "bias"))
    return None if _head_deviation(found, part.addition.put_out) > tolerance_of(reader) else found


def tolerance_of(reader: TextReader) -> float:
    """How far recomputed sums may be from the model's, as a share, by rounding alone."""
    return 10 * ROUNDING[next(reader.model.parameters()).dtype]


def _head_deviation(heads: HeadParts, added: Float[Tensor, "d_model"]) -> float:
    total = heads.parts.sum(0)
    return deviation(total if heads.bias is None else total + heads.bias, added)


def _norm_step(reader: TextReader, call: ModuleCall) -> NormStep:
    assert call.given is not None
    is_centred = norm_behind(call.module, call.given.size(-1), reader.device).is_centred
    return NormStep(before=call.given, after=call.put_out, is_centred=is_centred)


def _final_norm(reader: TextReader, stack: Stack, last: Float[Tensor, "d_model"]) -> NormStep | None:
    """The norm behind the last layer of a stack, where there is one."""
    norm = final_norm(reader.model, stack)
    if norm is None:
        return None
    dtype = next(reader.model.parameters()).dtype
    after: Tensor = norm(last.to(reader.device, dtype)[None, None])[0, 0].float().cpu()
    call = ModuleCall(norm, last, after)
    return _norm_step(reader, call) if is_norm(norm, last) else None
