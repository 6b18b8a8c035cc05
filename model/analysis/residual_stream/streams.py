"""The residual stream of every token after every layer, and how far another head, or another text, moves it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError
from model.nn.edits import HeadEdit
from model.parts.run import Run
from model.parts.weights import Stack
from model.reader import Reader
from model.trace.trace import Trace

Streams = Mapping[Stack, Float[Tensor, "level token d_model"]]


@dataclass(frozen=True, eq=False, slots=True)
class Moved:
    """What another run computes at the same places: with a change of a head, or reading other words."""

    #: by stack, the norm of the change of each stream divided by the norm of the stream, at the input (level 0) and
    #: after each layer; of the tokens that both runs have.
    shares: Mapping[Stack, Float[Tensor, "level token"]]
    written: tuple[str, ...]  #: the most probable next token of every step; none where that is unknown
    trace: Trace  #: the other run, whose weights can be compared


@torch.inference_mode()
def streams(reader: Reader, trace: Trace) -> Streams | None:
    """The vectors that the first layer reads (level 0), and those after each layer, on the CPU, in float32.

    Returns:
        By stack; None where the model does not expose one vector for each token and layer.
    """
    with suppress(TraceError):
        return _levels(reader.parts.run(trace), trace)
    return None


@torch.inference_mode()
def moved_by(reader: Reader, trace: Trace, edit: HeadEdit, before: Streams) -> Moved | None:
    """How far an edit moves every stream, and what would then be written; None where streams are unknown.

    Raises an EditError if the edit names what does not exist, or the heads of this model cannot be edited.
    """
    with suppress(TraceError):
        run = reader.parts.run(trace, (edit,))
        # A model of the library is asked for all rows again, also for those before its first step.
        first = max(0, trace.rows_before - run.trace.rows_before)
        return _moved(before, _levels(run, trace), run.trace, first)
    return None


def moved_to(reader: Reader, other: Trace, before: Streams) -> Moved | None:
    """How far the streams of another run over the same source are from these, column by column; None as `streams`."""
    after = streams(reader, other)
    return None if after is None else _moved(before, after, other, 0)


def _levels(run: Run, trace: Trace) -> Streams:
    sides: dict[Stack, Sequence[str]] = {"encoder": trace.source_tokens, "decoder": trace.target_tokens}
    return {stack: run.levels(stack) for stack, tokens in sides.items() if tokens}


def _moved(before: Streams, after: Streams, trace: Trace, first_step: int) -> Moved:
    shares = {}
    for stack, own in before.items():
        both = min(own.size(1), after[stack].size(1))
        change = (after[stack][:, :both] - own[:, :both]).norm(dim=-1)
        shares[stack] = change / own[:, :both].norm(dim=-1).clamp_min(torch.finfo(own.dtype).tiny)
    return Moved(shares, tuple(step.candidates[0].token for step in trace.steps[first_step:]), trace)
