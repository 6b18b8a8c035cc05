"""The sizes of a library model's decoder: the multiply-adds of a step by what they grow with."""

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from threading import get_ident
from typing import Any, Final

import torch
from torch import Tensor, nn

from model.adapters.library import LINEAR
from model.adapters.text_reader import TextReader
from model.decoding.cost import DecoderSizes
from model.errors import TraceError, said
from model.trace.trace import Trace

UNKNOWN: Final = said(
    "It is unknown how many rows some matrices of this model multiply (a mixture of experts, or projections between "
    "layers), so the cost of a step is not counted."
)


def library_sizes(reader: TextReader, trace: Trace) -> DecoderSizes:
    """The multiply-adds of a decoder by what they grow with.

    Raises a TraceError if the model does not give its inputs, or multiplies by more than is found here; it says so.
    `trace` is one of it, from which the widths of heads are taken.
    """
    if "cost" in reader.abilities.lacks:
        raise TraceError(reader.abilities.lacks["cost"])
    model: Any = reader.model
    has_memory = "decoder.cross" in trace.sites
    counted: Counter[str] = Counter()
    found: set[nn.Module] = {model.get_output_embeddings()}
    of_memory = _of_memory(reader, trace) if has_memory else set()
    for layer in range(trace.layers_of("decoder.self")):
        own, around = _of_attention(reader, "decoder.self", layer)
        counted["self_row"] += _numbers(own)
        counted += _of_heads(trace, "self", layer)
        in_attentions = set(own)
        if has_memory:
            across, _ = _of_attention(reader, "decoder.cross", layer)
            counted["cross_memory"] += _numbers(across & of_memory)
            counted["cross_row"] += _numbers(across - of_memory)
            counted += _of_heads(trace, "cross", layer)
            in_attentions |= across
        of_layer = _matrices(around)
        counted["feed_forward_row"] += _numbers(of_layer - in_attentions)
        found |= of_layer
        if any(parameter.dim() > 2 for parameter in around.parameters()):
            raise TraceError(UNKNOWN)
    if _matrices(model.get_decoder()) - found:
        raise TraceError(UNKNOWN)
    return DecoderSizes(output=_numbers([model.get_output_embeddings()]), **counted)


def _of_attention(reader: TextReader, site: str, layer: int) -> tuple[set[nn.Module], nn.Module]:
    """The matrices of an attention, W_O too, and the layer around it."""
    attention, around = reader.attention_of(site, layer)
    return _matrices(attention) | {reader.layout.projections[site, layer]}, around


def _of_memory(reader: TextReader, trace: Trace) -> set[nn.Module]:
    """The matrices of the decoder that multiply what the encoder puts out: W_K and W_V of each cross-attention."""
    model: Any = reader.model
    read: dict[nn.Module, Tensor] = {}
    here = get_ident()

    def note(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        # Another thread may run the model meanwhile.
        if get_ident() == here:
            read[module] = given[0]

    with ExitStack() as stack:
        for matrix in _matrices(model.get_decoder()):
            stack.callback(matrix.register_forward_pre_hook(note).remove)
        memory = reader.run_again(trace).encoder_last_hidden_state
    return {matrix for matrix, given in read.items() if torch.equal(given, memory)}


def _of_heads(trace: Trace, kind: str, layer: int) -> Counter[str]:
    """What a pair of rows takes in all heads of an attention, and what is cached of a row."""
    inputs = trace.attention(f"decoder.{kind}", layer)
    both = inputs.query.size(-1) + inputs.value.size(-1)
    return Counter({f"{kind}_pair": inputs.query.size(0) * both, f"{kind}_numbers": inputs.key.size(0) * both})


def _matrices(module: nn.Module) -> set[nn.Module]:
    return {each for each in module.modules() if isinstance(each, LINEAR)}


def _numbers(matrices: Iterable[nn.Module]) -> int:
    return sum(matrix.get_parameter("weight").numel() for matrix in matrices)
