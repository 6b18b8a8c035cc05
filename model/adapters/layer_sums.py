"""Find what each sub-layer of a library model's layer adds to the residual stream.

What a module puts out, or a multiple of that, is taken for an addition only where stream and addition together are what
a norm then reads, or what the layer puts out. So nothing is assumed of names, and what does not add up is not told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.norms import HALF, is_norm, is_same
from model.adapters.placement import weight_of
from model.adapters.stream_taps import LayerCall, ModuleCall
from model.parts.weights import Kind

#: Largest difference of two sums that are the same, as a share of their largest number; in half precision `HALF`.
CLOSE: Final = {torch.float32: 1e-4, torch.float64: 1e-4}
#: Rows by which ways are tried; the one that is found is checked at every row.
FEW_ROWS: Final = 4


@dataclass(frozen=True, eq=False)
class FoundPart:
    """One addition."""

    kind: Kind
    addition: ModuleCall  #: the module that put it out; where the model multiplies that, what it adds
    number: int  #: of this call among those of the layer
    #: before, after: the stream that comes in and that goes on.
    before: Float[Tensor, "*rows d_model"]
    after: Float[Tensor, "*rows d_model"]
    #: the norm that the sub-layer reads through (pre-norm), or that reads the sum (post-norm), if any.
    norm: ModuleCall | None
    is_post: bool  #: which of the two
    factor: Tensor | None  #: by what the model multiplies the module's output, where it does: by one number or by many


def find_parts(
    layer: LayerCall, kinds: Sequence[Kind], dtype: torch.dtype, like: Sequence[FoundPart]
) -> list[FoundPart] | None:
    """The additions of a layer, one for each of its sub-layers; None if no vectors add up to what it puts out.

    `like`: those of another layer, whose places are tried first: most layers of a model are alike.
    """
    if layer.given is None or layer.put_out is None:
        return None
    # What a layer holds itself may be what it multiplies by (Touvron et al. 2021, arXiv 2103.17239).
    own = [
        name for name, each in layer.module.named_parameters(recurse=False) if each.shape == layer.put_out.shape[-1:]
    ]
    scales = [vector for name in own if (vector := weight_of(layer.module, name)) is not None]
    search = _Search(layer.calls, layer.put_out, CLOSE.get(dtype, HALF), scales)
    first, was_scaled = [part.number for part in like], any(part.factor is not None for part in like)
    for is_scaled in (was_scaled, not was_scaled):
        found = search.parts(kinds, layer.given, 0, first, is_scaled=is_scaled)
        if found is not None:
            return found
    return None


class _Search:
    """Ways to make what a layer puts out by adding up what its modules do."""

    def __init__(
        self,
        calls: Sequence[ModuleCall],
        out: Float[Tensor, "*rows d_model"],
        close: float,
        scales: Sequence[Float[Tensor, "d_model"]],
    ) -> None:
        self._calls, self._out, self._close, self._scales = calls, out, close, scales
        #: What modules read, of the shape of the stream: one comparison with all of them is as fast as with one.
        read = [number for number, call in enumerate(calls) if call.given is not None and call.given.shape == out.shape]
        self._numbers = read
        self._given = torch.stack(
            [_few(given) for number in read if (given := calls[number].given) is not None] or [_few(out)]
        )
        self._are_norms: dict[int, bool] = {}

    def parts(
        self,
        kinds: Sequence[Kind],
        stream: Float[Tensor, "*rows d_model"],
        start: int,
        first: Sequence[int] = (),
        *,
        is_scaled: bool,
    ) -> list[FoundPart] | None:
        """The additions from this module on, to this stream, for these sub-layers; by the `first` modules, if any."""
        calls, is_last, of_stream = self._calls, len(kinds) == 1, self._norms_of(stream)
        every = range(start, len(calls))
        for index in (*(number for number in first[:1] if number in every), *every):
            factor = self._factor(index, stream) if is_scaled else None
            addition = calls[index] if factor is None else replace(calls[index], put_out=calls[index].put_out * factor)
            total = stream + addition.put_out
            # Post-norm: the norm's output goes on. Pre-norm: the sum does, and the next sub-layer's norm reads it. In
            # parallel: both sub-layers read the same, so that no norm reads the first sum.
            readers = [calls[number] for number in self._norms_of(total) if number > index]
            ways = [(reader.put_out, reader) for reader in readers] + [(total, None)]
            for after, norm in ways:
                before = next((calls[number] for number in reversed(of_stream) if number < index), None)
                part = FoundPart(kinds[0], addition, index, stream, after, norm or before, norm is not None, factor)
                rest: list[FoundPart] | None = []
                if not is_last:
                    rest = self.parts(kinds[1:], after, index + 1, first[1:], is_scaled=is_scaled)
                elif not is_same(_few(after), _few(self._out), self._close) or not is_same(
                    after, self._out, self._close
                ):
                    rest = None
                read = total if norm is not None else stream
                if rest is not None and (part.norm is None or self._reads(part.norm, read)):
                    return [part, *rest]
        return None

    def _reads(self, norm: ModuleCall, vectors: Float[Tensor, "*rows d_model"]) -> bool:
        return norm.given is not None and is_same(norm.given, vectors, self._close)

    def _norms_of(self, vectors: Float[Tensor, "*rows d_model"]) -> list[int]:
        """The norms that read these vectors."""
        if not self._numbers or vectors.shape != self._out.shape:
            return []
        few = _few(vectors)
        furthest = (self._given - few).abs().flatten(1).amax(1)
        same = (furthest <= self._close * few.abs().max()).tolist()
        return [
            number for number, is_read in zip(self._numbers, same, strict=True) if is_read and self._is_norm(number)
        ]

    def _is_norm(self, number: int) -> bool:
        if number not in self._are_norms:
            call = self._calls[number]
            self._are_norms[number] = call.given is not None and is_norm(call.module, _few(call.given))
        return self._are_norms[number]

    def _factor(self, index: int, stream: Float[Tensor, "*rows d_model"]) -> Tensor | None:
        """By what a call's output is multiplied so that stream and output are a sum that is read later, if by
        anything."""
        call, later = self._calls[index], self._calls[index + 1 :]
        put_out = call.put_out
        for total in [self._out, *(each.given for each in later if each.given is not None)]:
            if total.shape == stream.shape and float(put_out.abs().max()) > 0:
                if is_same(stream, total, self._close):
                    continue
                for factor in (((total - stream) * put_out).sum() / put_out.square().sum(), *self._scales):
                    if is_same(stream + put_out * factor, total, self._close):
                        return None if factor.dim() == 0 and factor == 1 else factor
        return None


def _few(vectors: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows width"]:
    return vectors[:FEW_ROWS] if vectors.dim() > 1 else vectors
