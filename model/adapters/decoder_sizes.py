"""Find the sizes of a library model's decoder: how many numbers its matrices hold, and which rows they multiply."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from torch import nn

from model.adapters.text_reader import TextReader
from model.decoding.cost import DecoderSizes
from model.errors import TraceError
from model.messages import said
from model.trace.trace import Trace

#: What W_K and W_V of a cross-attention are called: in BART and most others, and in T5.
OF_MEMORY: Final = frozenset({"k_proj", "v_proj", "k", "v"})
UNKNOWN: Final = said(
    "It is unknown how many rows some matrices of this model multiply (experts of which a few are chosen, or "
    "projections between layers), so the cost of a step is not counted."
)


def library_sizes(reader: TextReader, trace: Trace) -> DecoderSizes:
    """The multiply-adds of a decoder by what they grow with.

    Args:
        reader: a model that writes.
        trace: of it, from which the widths of heads are taken.

    Raises:
        TraceError: the model does not give its inputs, or multiplies by more than is found here; it says so.
    """
    if "cost" in reader.abilities.lacks:
        raise TraceError(reader.abilities.lacks["cost"])
    model: Any = reader.model
    has_memory = "decoder.cross" in trace.sites
    counted: Counter[str] = Counter()
    found: set[nn.Module] = {model.get_output_embeddings()}
    for layer in range(trace.layers_of("decoder.self")):
        own, around = _of_attention(reader, "decoder.self", layer)
        counted["self_row"] += _numbers(own.values())
        counted += _of_heads(trace, "self", layer)
        in_attentions = set(own.values())
        if has_memory:
            across, _ = _of_attention(reader, "decoder.cross", layer)
            of_memory = {matrix for name, matrix in across.items() if name.split(".")[-1] in OF_MEMORY}
            counted["cross_memory"] += _numbers(of_memory)
            counted["cross_row"] += _numbers(set(across.values()) - of_memory)
            counted += _of_heads(trace, "cross", layer)
            in_attentions |= set(across.values())
        of_layer = set(_matrices(around).values())
        counted["feed_forward_row"] += _numbers(of_layer - in_attentions)
        found |= of_layer
        if any(parameter.dim() > 2 for parameter in around.parameters()):
            raise TraceError(UNKNOWN)
    if set(_matrices(model.get_decoder()).values()) - found:
        raise TraceError(UNKNOWN)
    return DecoderSizes(output=_numbers([model.get_output_embeddings()]), **counted)


def _of_attention(reader: TextReader, site: str, layer: int) -> tuple[dict[str, nn.Module], nn.Module]:
    """The matrices of an attention, W_O too, and the layer around it."""
    attention, around = reader.attention_of(site, layer)
    return _matrices(attention) | {"output": reader.layout.projections[site, layer]}, around


def _of_heads(trace: Trace, kind: str, layer: int) -> Counter[str]:
    """What a pair of rows takes in all heads of an attention, and what is cached of a row."""
    inputs = trace.attention(f"decoder.{kind}", layer)
    both = inputs.query.size(-1) + inputs.value.size(-1)
    return Counter({f"{kind}_pair": inputs.query.size(0) * both, f"{kind}_numbers": inputs.key.size(0) * both})


def _matrices(module: nn.Module) -> dict[str, nn.Module]:
    """Every matrix in a module by its name."""
    kinds = ("Linear", "Conv1D")
    return {name: each for name, each in module.named_modules() if type(each).__name__ in kinds}


def _numbers(matrices: Iterable[nn.Module]) -> int:
    return sum(matrix.get_parameter("weight").numel() for matrix in set(matrices))
