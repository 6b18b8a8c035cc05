"""The residual stream of every token after every layer, and how far another head, or another text, moves it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.text_reader import TextReader
from model.analysis.residual_stream.additions import Stack, deviation
from model.analysis.residual_stream.capture import CapturedRun
from model.analysis.residual_stream.library_path import tolerance_of
from model.nn.edits import HeadEdit
from model.nn.hooks import STREAM
from model.reader import Reader
from model.trace.trace import Trace
from model.translator import Translator
from model.word_choice import TokenPlace

Streams = Mapping[Stack, Float[Tensor, "level token d_model"]]


@dataclass(frozen=True, eq=False, slots=True)
class Moved:
    """What another run computes at the same places: with a change of a head, or reading other words."""

    #: by stack, the norm of the change of each stream divided by the norm of the stream, at the input (level 0) and
    #: after each layer; of the tokens that both runs have.
    shares: Mapping[Stack, Float[Tensor, "level token"]]
    written: tuple[str, ...]  #: the most probable next token of every step; none where that is unknown
    trace: Trace  #: the other run, whose weights can be compared


def streams(reader: Reader, trace: Trace) -> Streams | None:
    """The vectors that the first layer reads (level 0), and those after each layer, on the CPU, in float32.

    `reader` is a Transformer of ours, or a model of the library that reads text.

    Returns:
        By stack; None where the model does not expose one vector for each token and layer.
    """
    return _run(reader, trace, None)[0]


def moved_by(reader: Reader, trace: Trace, edit: HeadEdit, before: Streams) -> Moved | None:
    """How far an edit moves every stream, and what would then be written; None where streams are unknown.

    Raises an EditError if the edit names what does not exist, or the heads of this model cannot be edited.
    """
    after, changed = _run(reader, trace, edit)
    if after is None:
        return None
    if isinstance(reader, TextReader):
        place = TokenPlace(trace.source_ids, trace.target_ids, 0, trace.token_inputs)
        changed = reader.trace_place(place, (*trace.source_ids, *trace.target_ids)[-1], (edit,))
    assert changed is not None, "our models tell the trace of a run with its streams"
    # A model of the library is asked for all rows again, also for those before its first step.
    return _moved(before, after, changed, max(0, trace.rows_before - changed.rows_before))


def moved_to(reader: Translator, other: Trace, before: Streams) -> Moved:
    """How far the streams of another run over the same source are from these, column by column."""
    after = streams(reader, other)
    assert after is not None, "our models tell their streams"
    return _moved(before, after, other, 0)


def _moved(before: Streams, after: Streams, trace: Trace, first_step: int) -> Moved:
    shares = {}
    for stack, own in before.items():
        both = min(own.size(1), after[stack].size(1))
        change = (after[stack][:, :both] - own[:, :both]).norm(dim=-1)
        shares[stack] = change / own[:, :both].norm(dim=-1).clamp_min(torch.finfo(own.dtype).tiny)
    return Moved(shares, tuple(step.candidates[0].token for step in trace.steps[first_step:]), trace)


@torch.inference_mode()
def _run(reader: Reader, trace: Trace, edit: HeadEdit | None) -> tuple[Streams | None, Trace | None]:
    """The streams, where they are known, and of our models the trace of the run."""
    stacks: list[Stack] = ["encoder"] if trace.source_tokens else []
    stacks += ["decoder"] if trace.target_tokens else []
    edits = trace.edits if edit is None else (edit,)
    found: dict[Stack, Tensor] = {}
    if isinstance(reader, Translator):
        written = [step.token_id for step in trace.steps]
        run = CapturedRun(reader, reader.trace_tokens(trace.text, written, extras={*STREAM}, edits=edits))
        for stack in stacks:
            outputs = (run.recorded(f"{stack}.layers.{layer}.hook_output") for layer in range(run.count(stack)))
            found[stack] = torch.stack([run.begin(stack), *outputs])
        return found, run.trace
    if not isinstance(reader, TextReader):
        return None, None
    # What the library calls its last hidden state has already been through the final norm, where there is one.
    with reader.tapped(dict.fromkeys(stacks)) as calls:
        reader.run_again(trace, edits=edits)
    for stack in stacks:
        layers = [call for call in calls if call.stack == stack]
        count, _heads = trace.shapes.get(f"{stack}.self", (0, 0))
        if not layers or len(layers) != count:
            return None, None
        levels = [layers[0].given, *(layer.put_out for layer in layers)]
        passed_on = zip(levels[1:], [layer.given for layer in layers[1:]], strict=False)
        # Where something else is between layers, or a layer puts out something else, levels could not be told.
        if any(
            out is None or given is None or deviation(out, given) > tolerance_of(reader) for out, given in passed_on
        ):
            return None, None
        found[stack] = torch.stack(cast(list[Tensor], levels))
    return found, None
