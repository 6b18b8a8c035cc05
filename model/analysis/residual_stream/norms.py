"""How long the vectors of a run are: every stream, what every sub-layer adds to it, and each head's part of that.

Which head of an attention matters most at a token is told by the norm of what it adds, not by its largest weight
(Kobayashi et al. 2020, arXiv 2004.10102).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.residual_stream.token_path import beginning, head_parts
from model.errors import TraceError
from model.parts.run import Addition
from model.parts.weights import Kind, Stack, Sublayer
from model.reader import Reader
from model.trace.trace import Trace

#: So many components of the first vectors are shown, or all of fewer, and of what is added for positions.
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
    #: by site, of what each head adds: of sites whose heads' parts add up to what the attention adds in every layer.
    heads: Mapping[str, Float[Tensor, "layer head token"]]


@torch.inference_mode()
def stack_norms(reader: Reader, trace: Trace, seen: Mapping[Stack, slice]) -> dict[Stack, StackNorms]:
    """The norms of each stack at these positions; none where the model does not tell what its sub-layers add.

    The model runs once; of its vectors only those at these positions are kept.
    """
    found: dict[Stack, StackNorms] = {}
    with suppress(TraceError):
        parts, rows = reader.parts, {stack: seen[stack] for stack in reader.parts.stacks if stack in seen}
        run = parts.run(trace, at={stack: tuple(range(each.start, each.stop)) for stack, each in rows.items()})
        of_stacks = {stack: run.additions(stack) for stack in rows}
        for stack, layers in of_stacks.items():
            begin = layers[0][0].before
            *_, positional = beginning(parts, trace, stack, rows[stack], begin)
            found[stack] = StackNorms(
                kinds=tuple(tuple(addition.kind for addition in layer) for layer in layers),
                begin=begin.norm(dim=-1),
                sublayers=torch.stack([_norms(addition) for layer in layers for addition in layer]),
                vectors=begin[:, torch.linspace(0, begin.size(-1) - 1, min(SHOWN, begin.size(-1))).round().long()],
                # The first components change fastest where positions are sinusoids.
                waves=None if positional is None else positional[:, [at * begin.size(-1) // 8 for at in range(WAVES)]],
                heads=_of_heads(reader, trace, stack, layers, rows[stack]),
            )
    return found


def _norms(addition: Addition) -> Float[Tensor, "3 token"]:
    return torch.stack([part.norm(dim=-1) for part in (addition.added, addition.summed, addition.after)])


def _of_heads(
    reader: Reader, trace: Trace, stack: Stack, layers: Sequence[Sequence[Addition]], rows: slice
) -> dict[str, Float[Tensor, "layer head token"]]:
    found: dict[str, list[Tensor]] = {}
    for number, layer in enumerate(layers):
        for addition in layer:
            sublayer = Sublayer(stack, number, addition.kind)
            if (site := sublayer.site) is None or site not in trace.sites:
                continue
            with suppress(TraceError):
                output = trace.head_output(site, number, rows=rows).cpu()
                if (of_heads := head_parts(reader.parts, sublayer, addition, output)) is not None:
                    found.setdefault(site, []).append(of_heads[0].norm(dim=-1))
    return {site: torch.stack(norms) for site, norms in found.items() if len(norms) == trace.layers_of(site)}
