"""How long the vectors of a run are: every stream, what every sub-layer adds to it, and each head's part of that.

A head adds its output times its rows of W_O (§3.2.2). Which head of an attention matters most at a token is told by the
norm of that, not by its largest weight (Kobayashi et al. 2020, arXiv 2004.10102).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError
from model.parts.run import Addition
from model.parts.weights import Kind, Stack
from model.reader import Reader
from model.trace.trace import Trace

#: So many components of the first vectors are shown, and of what is added for positions.
SHOWN, WAVES = 16, 3


@dataclass(frozen=True, eq=False, slots=True)
class StackNorms:
    """The norms of a stack, at the positions that were asked for."""

    kinds: tuple[tuple[Kind, ...], ...]  #: of each layer its sub-layers, in order
    begin: Float[Tensor, "token"]  #: of what the first layer reads
    #: of what each sub-layer adds, of the sum, and of the stream that goes on: after a post-norm, another than the sum.
    sublayers: Float[Tensor, "sublayer 3 token"]
    #: some components of what the first layer reads, and of what positions add to it where that is known.
    vectors: Float[Tensor, "token shown"]
    waves: Float[Tensor, "token wave"] | None


@torch.inference_mode()
def stack_norms(reader: Reader, trace: Trace, seen: Mapping[Stack, slice]) -> dict[Stack, StackNorms] | None:
    """The norms of each stack at these positions; None where the model does not tell what its sub-layers add."""
    with suppress(TraceError):
        run = reader.parts.run(trace)
        found = {}
        for stack, rows in seen.items():
            layers = run.additions(stack)
            of_all = [_norms(addition, rows) for layer in layers for addition in layer]
            begin = layers[0][0].before[rows].float()
            shown, waves = _evenly(begin, SHOWN), _waves(reader, trace, stack, rows)
            kinds = tuple(tuple(addition.kind for addition in layer) for layer in layers)
            found[stack] = StackNorms(kinds, begin.norm(dim=-1), torch.stack(of_all), shown, waves)
        return found
    return None


def head_norms(reader: Reader, trace: Trace, site: str, rows: slice) -> Float[Tensor, "layer head row"] | None:
    """The norm of what each head of a site adds at these rows; None where its output matrix is unknown."""
    with suppress(TraceError):
        of_layers = []
        for layer in range(trace.layers_of(site)):
            output = trace.head_output(site, layer, rows=rows).float().cpu()
            added = torch.einsum("hrv,hvd->hrd", output, reader.parts.output(site, layer).float().cpu())
            of_layers.append(added.norm(dim=-1))
        return torch.stack(of_layers)
    return None


def _norms(addition: Addition, rows: slice) -> Float[Tensor, "3 token"]:
    return torch.stack([part[rows].float().norm(dim=-1) for part in (addition.added, addition.summed, addition.after)])


def _evenly(vectors: Float[Tensor, "token width"], count: int) -> Float[Tensor, "token _count"]:
    """So many components, evenly spread over all."""
    step = max(1, vectors.shape[-1] // count)
    return vectors[:, ::step][:, :count]


def _waves(reader: Reader, trace: Trace, stack: Stack, rows: slice) -> Float[Tensor, "token wave"] | None:
    """Components of what positions add, of which the first ones change fastest where they are sinusoids."""
    with suppress(TraceError, KeyError):
        added = reader.parts.beginning(trace, stack).positional[rows].float()
        if added.numel() and bool(added.any()):
            components: Sequence[int] = [number * added.shape[-1] // 8 for number in range(WAVES)]
            return added[:, components]
    return None
