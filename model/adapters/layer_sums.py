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
from model.adapters.stream_taps import LayerCall, ModuleCall
from model.parts.weights import Kind

#: Largest difference of two sums that are the same, as a share of their largest number; in half precision `HALF`.
CLOSE: Final = {torch.float32: 1e-4, torch.float64: 1e-4}


@dataclass(frozen=True, eq=False)
class FoundPart:
    """One addition."""

    kind: Kind
    addition: ModuleCall  #: the module that put it out; where the model multiplies that, what it adds
    #: before, after: the stream that comes in and that goes on.
    before: Float[Tensor, "*rows d_model"]
    after: Float[Tensor, "*rows d_model"]
    #: the norm that the sub-layer reads through (pre-norm), or that reads the sum (post-norm), if any.
    norm: ModuleCall | None
    is_post: bool  #: which of the two


def find_parts(layer: LayerCall, kinds: Sequence[Kind], dtype: torch.dtype) -> list[FoundPart] | None:
    """The additions of a layer, one for each of its sub-layers; None if no vectors add up to what it puts out."""
    if layer.given is None or layer.put_out is None:
        return None
    close = CLOSE.get(dtype, HALF)
    plain = _search(layer, kinds, layer.given, 0, close)
    return _search(layer, kinds, layer.given, 0, close, is_scaled=True) if plain is None else plain


def _search(
    layer: LayerCall,
    kinds: Sequence[Kind],
    stream: Float[Tensor, "*rows d_model"],
    start: int,
    close: float,
    *,
    is_scaled: bool = False,
) -> list[FoundPart] | None:
    out, calls, is_last = layer.put_out, layer.calls, len(kinds) == 1
    assert out is not None
    for index in range(start, len(calls)):
        later = [call for call in calls[index + 1 :] if call.given is not None]
        sums = [out, *(call.given for call in later if call.given is not None)]
        addition = _multiple(calls[index], stream, sums, close) if is_scaled else calls[index]
        total = stream + addition.put_out
        readers = [call for call in later if _is_norm_of(call, total, close)]
        # Post-norm: the norm's output goes on. Pre-norm: the sum does, and the next sub-layer's norm reads it. In
        # parallel: both sub-layers read the same, so that no norm reads the first sum.
        ways = [(reader.put_out, reader) for reader in readers] + [(total, None)]
        for after, norm in ways:
            read_through = norm or _norm_before(calls[:index], stream, close)
            part = FoundPart(kinds[0], addition, stream, after, read_through, is_post=norm is not None)
            if is_last:
                if is_same(after, out, close):
                    return [part]
                continue
            rest = _search(layer, kinds[1:], after, index + 1, close, is_scaled=is_scaled)
            if rest is not None:
                return [part, *rest]
    return None


def _multiple(
    call: ModuleCall, stream: Float[Tensor, "*rows d_model"], sums: Sequence[Float[Tensor, "*rows width"]], close: float
) -> ModuleCall:
    """The call, its output multiplied so that stream and output are one of these sums, if there is such a number."""
    put_out = call.put_out
    for total in sums:
        if total.shape == stream.shape and float(put_out.abs().max()) > 0:
            added = put_out * float(((total - stream) * put_out).sum() / put_out.square().sum())
            if is_same(stream + added, total, close) and not is_same(stream, total, close):
                return replace(call, put_out=added)
    return call


def _norm_before(
    calls: Sequence[ModuleCall], stream: Float[Tensor, "*rows d_model"], close: float
) -> ModuleCall | None:
    return next((call for call in reversed(calls) if _is_norm_of(call, stream, close)), None)


def _is_norm_of(call: ModuleCall, vectors: Float[Tensor, "*rows d_model"], close: float) -> bool:
    given = call.given
    return given is not None and is_same(given, vectors, close) and is_norm(call.module, given)
