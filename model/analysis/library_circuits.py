"""QK and OV of the heads of a decoder of `transformers` whose positions are added to its tokens, not turned into them.

As `head_circuits` for Headlight's own models. No name of a library's module is asked for: every token is given to a
layer as it is embedded, and what its attention is then called with are its queries, keys and values.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.capture import Call, layers_counted
from model.adapters.decoder_lens import UNKNOWN, final_norm, norm_of
from model.adapters.placement import weight_of
from model.adapters.text_reader import TextReader
from model.analysis.head_circuits import HeadCircuits, copying_score
from model.errors import DataError
from model.interruption import Progress, no_progress
from model.nn.hooks import CALL, listen

#: Tokens that a layer is given at once.
TOKENS_AT_ONCE = 256


class _Called(Exception):
    """An attention was called: what its layer would do with it is not wanted."""


@torch.no_grad()
def library_circuits(reader: TextReader, layer: int, head: int) -> HeadCircuits:
    """QK and OV of a head of the decoder's self-attention, from 0.

    Raises a DataError if there is no such head, or the model's parts are not known; it says which.
    """
    heads = _heads(reader)
    if not (0 <= layer < len(heads) and 0 <= head < heads[layer]):
        message = "decoder.self has {num_heads} layers; there is no layer {layer}, head {head} (from 0)."
        raise DataError(message, num_heads=len(heads), layer=layer, head=head)
    of_head: list[tuple[Tensor, ...]] = []
    for call in _calls(reader, layer):
        of_head.append(tuple(_of_head(part, head, heads[layer]) for part in (call.query, call.key, call.value)))
        scale = call.scale
    query, key, value = (torch.cat(parts) for parts in zip(*of_head, strict=True))
    common = _of_head(_common_value(reader, layer), head, heads[layer])
    output = reader.output_projection("decoder.self", layer)[head]
    return HeadCircuits(query, key, value - common, output @ _read_off(reader).T, scale)


@torch.no_grad()
def library_copying(reader: TextReader, progress: Progress = no_progress) -> Float[Tensor, "layer head"]:
    """The copying score of every head; NaN of heads that a layer does not have.

    Raises a DataError if the model's parts are not known; it says which.

    Args:
        reader: a decoder.
        progress: called with the number of layers done since the last call.
    """
    heads, read_off = _heads(reader), _read_off(reader)
    scores = torch.full((len(heads), max(heads)), torch.nan)
    for layer, count in enumerate(heads):
        # Σ over tokens of what is read off and of values, so that nothing as long as the vocabulary is held.
        common, output = _common_value(reader, layer), reader.output_projection("decoder.self", layer)
        between = torch.zeros(count, output.size(2), output.size(1))
        for call, some in zip(_calls(reader, layer), torch.split(read_off, TOKENS_AT_ONCE), strict=True):
            value = torch.stack([_of_head(call.value - common, head, count) for head in range(count)])
            between += torch.einsum("td,htv->hdv", some, value)
        for head in range(count):
            scores[layer, head] = copying_score(output[head] @ between[head])
        progress(1)
    return scores


def _heads(reader: TextReader) -> tuple[int, ...]:
    if "circuits" in reader.abilities.lacks:
        raise DataError(reader.abilities.lacks["circuits"])
    return reader.abilities.heads["decoder.self"]


def _of_head(tensor: Float[Tensor, "1 kv_head token d_k"], head: int, heads: int) -> Float[Tensor, "token d_k"]:
    """A head's own part; heads may share keys and values."""
    return tensor[0, head // (heads // tensor.size(1))].float().cpu()


def _calls(reader: TextReader, layer: int) -> Iterator[Call]:
    """What the attention of a layer is called with for every token, some at a time."""
    table, (_, around) = _embedding(reader), reader.attention_of("decoder.self", layer)
    for some in torch.split(torch.arange(reader.vocab_size, device=reader.device), TOKENS_AT_ONCE):
        yield _call(around, table(some)[None])


def _common_value(reader: TextReader, layer: int) -> Float[Tensor, "1 kv_head 1 d_k"]:
    """The values of an embedding of zeros: what biases, of W_V and of a norm before it, add to those of every token."""
    table, (_, around) = _embedding(reader), reader.attention_of("decoder.self", layer)
    return _call(around, torch.zeros_like(table.weight[:1])[None]).value


def _call(module: nn.Module, hidden: Float[Tensor, "1 token d_model"]) -> Call:
    """What the attention in a module is called with; the module goes no further."""

    def stop(done: int, total: int) -> NoReturn:
        raise _Called

    with listen(record={CALL}) as recorded, layers_counted(stop):
        try:
            module(hidden)
        except _Called:
            (calls,) = recorded.values()
            call: Call = calls[0]
            return call
    raise DataError("A layer of this model called no attention, so its queries and keys are unknown.")


def _embedding(reader: TextReader) -> nn.Embedding:
    table: Any = reader.model.get_input_embeddings()  # type: ignore[operator]
    width = reader.output_projection("decoder.self", 0).size(-1)
    if table.weight.size(1) != width:
        message = (
            "The token embeddings of this model have {size} dimensions, but its layers read {width}, so the effect of "
            "its heads on tokens alone is unknown."
        )
        raise DataError(message, size=table.weight.size(1), width=width)
    found: nn.Embedding = table
    return found


def read_off(reader: TextReader) -> Float[Tensor, "token d_model"] | None:
    """Every token's vector, with which what a head puts out is multiplied: seen through the last norm but its divisor.

    None where norm or vectors are not known.
    """
    norm, head = final_norm(reader.model), reader.model.get_output_embeddings()  # type: ignore[operator]
    matrix = None if norm is None or head is None else weight_of(head)
    if norm is None or matrix is None or any(len(own) != matrix.size(1) for own in norm.parameters()):
        return None
    gain, centres = norm_of(norm, matrix.size(1), reader.device)
    scaled = matrix[: reader.vocab_size] * gain
    return scaled - scaled.mean(-1, keepdim=True) if centres else scaled


def _read_off(reader: TextReader) -> Float[Tensor, "token d_model"]:
    if (found := read_off(reader)) is None:
        raise DataError(UNKNOWN)
    return found
