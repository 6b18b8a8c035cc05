"""QK and OV of the heads of a decoder of `transformers`.

As `head_circuits` for Headlight's own models. No name of a library's module is asked for: every token is given to a
layer as it is embedded, and what its attention is then called with are its queries, keys and values. Where positions
are added to tokens they are left out; where queries and keys are rotated by them (Su et al. 2021), a score depends on
how far key and query are apart, and this distance is chosen.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.capture import Call, layers_counted
from model.adapters.norms import NORM_UNKNOWN, final_norm, norm_behind
from model.adapters.placement import weight_of
from model.adapters.stream_taps import LayerCall
from model.adapters.text_reader import TextReader
from model.analysis.head_circuits import HeadCircuits, copying_score
from model.errors import DataError, said
from model.interruption import Progress, no_progress
from model.nn.hooks import CALL, listen
from model.trace.trace import Recorded

#: Tokens that a layer is given at once.
TOKENS_AT_ONCE = 256
#: How positions are known that are added to the embeddings.
ADDED: Final = ("learned", "sinusoidal")
NO_LAYER: Final = said("The layers of this model cannot be run alone, so their queries and keys are unknown.")
#: The largest distance in a model that reads texts of any length.
LONGEST_DISTANCE: Final = 4_095


class _Called(Exception):
    """An attention was called: what its layer would do with it is not wanted."""


@torch.no_grad()
def library_circuits(
    reader: TextReader, layer: int, head: int, *, distance: int = 0, progress: Progress = no_progress
) -> HeadCircuits:
    """QK and OV of a head of the decoder's self-attention, from 0; keys stand `distance` tokens before their query.

    Only rotary positions have a distance. Raises a DataError if there is no such head or distance, or the model's
    parts are not known; it says which. `progress` counts the tokens done since the last call.
    """
    heads = _heads(reader)
    if not (0 <= layer < len(heads) and 0 <= head < heads[layer]):
        message = "decoder.self has {num_heads} layers; there is no layer {layer}, head {head} (from 0)."
        raise DataError(message, num_heads=len(heads), layer=layer, head=head)
    if not 0 <= distance <= (most := largest_distance(reader.abilities)):
        raise DataError("Expected a distance from 0 to {most:,}, got {distance:,}.", most=most, distance=distance)
    run = _Run.of(reader, distance)
    of_head: list[tuple[Tensor, ...]] = []
    for call in run.calls(layer):
        if isinstance(call.bias, Tensor):
            raise DataError("This model adds more to its scores than products of queries and keys.")
        of_head.append(tuple(_of_head(part, head, heads[layer]) for part in (call.query, call.key, call.value)))
        progress(call.key.size(2))
    query, key, value = (torch.cat(parts) for parts in zip(*of_head, strict=True))
    common = _of_head(run.common_value(layer), head, heads[layer])
    output = reader.output_projection("decoder.self", layer)[head]
    sink = None if call.sinks is None else call.sinks[head].float().cpu()[None, None]
    return HeadCircuits(
        query, key, value - common, output @ _read_off(reader).T, call.scale, softcap=call.softcap, sink=sink
    )


def largest_distance(abilities: Abilities) -> int:
    """How far a key may stand before its query; 0 where no score depends on this alone."""
    if abilities.positions != "rotary":
        return 0
    return abilities.max_length - 1 if abilities.max_length else LONGEST_DISTANCE


@torch.no_grad()
def library_copying(reader: TextReader, progress: Progress = no_progress) -> Float[Tensor, "layer head"]:
    """The copying score of every head; NaN of heads that a layer does not have.

    Raises a DataError if the model's parts are not known; it says which. `progress` is called with the number of layers
    done since the last call.
    """
    heads, read_off, run = _heads(reader), _read_off(reader), _Run.of(reader, 0)
    scores = torch.full((len(heads), max(heads)), torch.nan)
    for layer, count in enumerate(heads):
        # Σ over tokens of what is read off and of values, so that nothing as long as the vocabulary is held.
        common, output = run.common_value(layer), reader.output_projection("decoder.self", layer)
        between = torch.zeros(count, output.size(2), output.size(1))
        for call, some in zip(run.calls(layer), torch.split(read_off, run.tokens_at_once), strict=True):
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


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of the whole model, whose layers can be called again with other tokens at the same positions."""

    reader: TextReader
    layers: Sequence[LayerCall]  #: as they were called
    tokens_at_once: int  #: how many a layer is given
    #: how far behind position 0 they stand once more, as queries; 0 where they stand only once.
    distance: int

    @classmethod
    def of(cls, reader: TextReader, distance: int) -> "_Run":
        """Run the model over any tokens."""
        length = min(TOKENS_AT_ONCE, reader.abilities.max_length or TOKENS_AT_ONCE) // 2 * 2
        given = reader.arguments((), [row % reader.vocab_size for row in range(length)])
        model: Any = reader.model.base_model
        if "position_ids" in inspect.signature(model.forward).parameters:
            given["position_ids"] = torch.zeros_like(given["input_ids"])
            given["position_ids"][:, length // 2 :] = distance
        elif distance:
            raise DataError("This model accepts no positions, so no distance can be chosen.")
        with reader.tapped({"decoder": 0}) as layers:
            model(**given)
        if any(call.hidden is None or call.hidden.dim() != 3 for call in layers):
            raise DataError(NO_LAYER)
        return cls(reader, layers, length // 2 if distance else length, distance)

    def calls(self, layer: int) -> Iterator[Call]:
        """What the attention of a layer is called with for every token, some at a time."""
        for some in torch.split(torch.arange(self.reader.vocab_size, device=self.reader.device), self.tokens_at_once):
            yield self._called(layer, self._embedded(some))

    def common_value(self, layer: int) -> Float[Tensor, "1 kv_head 1 d_k"]:
        """The values of an embedding of zeros: what biases, of W_V and of a norm before it, add to every token's."""
        return self._called(layer, torch.zeros_like(_embedding(self.reader).weight[:1])).value

    def _embedded(self, tokens: Int[Tensor, "token"]) -> Float[Tensor, "token d_model"]:
        """What the first layer is given of tokens, or what their table has where positions are added to that."""
        table = _embedding(self.reader)
        if self.reader.abilities.positions in ADDED:
            vectors: Tensor = table(tokens)
            return vectors
        with self.reader.tapped({"decoder": None}) as layers, _until_attending():
            self.reader.model.base_model(**self.reader.arguments((), tokens.tolist()))  # type: ignore[operator]
        if not layers or layers[0].given is None or layers[0].given.shape != (len(tokens), table.weight.size(1)):
            raise DataError(NO_LAYER)
        return layers[0].given.to(table.weight)

    def _called(self, layer: int, vectors: Float[Tensor, "token d_model"]) -> Call:
        """What the attention of a layer is called with for these; the layer goes no further."""
        count, copies = len(vectors), 2 if self.distance else 1
        rows = vectors.new_zeros(copies, self.tokens_at_once, vectors.size(1))
        rows[:, :count] = vectors
        _, around = self.reader.attention_of("decoder.self", layer)
        known = next((call for call in self.layers if call.module is around), None)
        with _until_attending() as recorded:
            if known is not None:
                known.again(rows.reshape(1, -1, vectors.size(1)))
        if not recorded:
            raise DataError(NO_LAYER)
        call: Call = next(iter(recorded.values()))[0]
        last = slice((copies - 1) * self.tokens_at_once, (copies - 1) * self.tokens_at_once + count)
        return replace(call, query=call.query[:, :, last], key=call.key[:, :, :count], value=call.value[:, :, :count])


@contextmanager
def _until_attending() -> Iterator[Recorded]:
    """What the first attention in the block is called with; the block ends there."""

    def stop(done: int, total: int) -> NoReturn:
        raise _Called

    with listen(record={CALL}) as recorded, layers_counted(stop), suppress(_Called):
        yield recorded


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
    of = norm_behind(norm, matrix.size(1), reader.device)
    scaled = matrix[: reader.vocab_size] * of.gain
    return scaled - scaled.mean(-1, keepdim=True) if of.is_centred else scaled


def _read_off(reader: TextReader) -> Float[Tensor, "token d_model"]:
    if (found := read_off(reader)) is None:
        raise DataError(NORM_UNKNOWN)
    return found
