"""Run of a model, when it is opened, what the pages run of it, for each ability that is claimed.

`proof` compares what is recorded with what the library computes. A model may be exact there and still fail where a page
writes with it, edits a head or asks for a word: what fails here is not claimed, with its reason, and a model that
cannot be read at all is refused. An error that has a sentence for a person is not a failure: the page shows it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import torch

from model.abilities import Abilities, View
from model.adapters.layout import OUTPUTS
from model.adapters.limited_process import first_words
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.errors import CheckpointError, HeadlightError, InputTextError, TraceError, said
from model.nn.edits import SwitchOff
from model.reader import Reader
from model.trace.trace import Trace

#: What is read: the first of these that the model has words and room for, else some of its own tokens.
TEXTS: Final = ("The animal was too tired.", "The")
#: Tokens that a branch writes: every pass takes as long as one that proves.
STEPS: Final = 1


class _EnoughError(Exception):
    """Ends a search that would go on."""


def lacking(reader: TextReader, tokens: Sequence[int]) -> Mapping[View, str]:
    """What is claimed of a model and fails, with a sentence for each; `tokens` are some that it reads.

    Raises a CheckpointError if it cannot be read, or an encoder–decoder cannot write.
    """
    text = _readable(reader, tokens)
    if text is None:
        return {}
    failed: dict[View, str] = {}
    traces: list[Trace] = []

    def attempt(view: View, use: Callable[[], object]) -> None:
        if reader.abilities.has(view) and (reason := _reason(use)):
            message = "Headlight tried this when it opened the model, but the attempt failed ({reason})."
            failed[view] = said(message, reason=reason)

    if isinstance(reader, TextWriter) and reader.abilities.generates:
        attempt("decoding", lambda: traces.append(_written(reader, text)))
        attempt("beam", lambda: _searched(reader, text))
    if reader.abilities.kind == "encoder-decoder" and "decoding" in failed:
        raise CheckpointError(failed["decoding"])
    if not traces and (reason := _reason(lambda: traces.append(_read(reader, text)))):
        raise _unreadable(reader.abilities, reason)
    if not traces:
        return failed
    (trace,) = traces

    def looked_through() -> None:
        try:
            reader.logit_lens(trace, 1)
        except TraceError as error:  # Its parts are not known: of this model there is no lens at all.
            failed["logit lens"] = error.message

    def split() -> None:
        parts = reader.parts
        try:
            first = {stack: parts.start(trace, stack).read[[0]] for stack in parts.stacks}
            for stack, row in first.items():
                parts.additions_at(trace, stack, [0], row)
            for site in trace.sites:
                rows = first["encoder" if site == "encoder.self" else "decoder"]
                parts.layer_inputs(site, 0, rows, first["encoder"] if site == "decoder.cross" else None)
        except TraceError as error:
            failed["reasons"] = error.message

    attempt("logit lens", looked_through)
    attempt("reasons", split)
    attempt("norms", lambda: [reader.output_projection(site, 0) for site in trace.sites])
    attempt("edits", lambda: _edited(reader, trace))
    attempt("word choice", lambda: _chosen(reader, text))
    if "decoding" in failed:
        failed.setdefault("beam", failed["decoding"])
    return failed


def check_reads(reader: Reader) -> None:
    """Read a picture or a sound that is given, as a page does. Raises a CheckpointError if that fails."""
    outputs = {OUTPUTS} if reader.abilities.has("head outputs") else set()
    if reason := _reason(lambda: _shown(reader.trace("", extras=outputs), reader.abilities)):
        raise _unreadable(reader.abilities, reason)


def _unreadable(abilities: Abilities, reason: str) -> CheckpointError:
    message = "This model ({name}) passed the check with a short input, but the pages cannot use it ({reason})."
    return CheckpointError(message, name=abilities.family, reason=reason)


def _readable(reader: TextReader, tokens: Sequence[int]) -> str | None:
    """A text that a model can read, with room for what it writes."""
    for known in (*TEXTS, None):
        try:
            text = reader.pieces.decode(tokens) if known is None else known
            count = len(reader.source(text).ids)
        except InputTextError:
            continue
        if reader.abilities.max_length is None or count + STEPS < reader.abilities.max_length:
            return text
    return None


def _reason(use: Callable[[], object]) -> str:
    """Why something fails, in the first words of the error; "" if it does not."""
    try:
        use()
    except (HeadlightError, torch.OutOfMemoryError):
        return ""
    except Exception as error:  # Whatever a class of the library thinks of what it is given.
        return first_words(error)
    return ""


def _read(reader: TextReader, text: str) -> Trace:
    """As a page reads: with the heads' real outputs where there are any, and every weight."""
    outputs = {OUTPUTS} if reader.abilities.has("head outputs") else set()
    return _shown(reader.trace(text, extras=outputs), reader.abilities)


def _written(writer: TextWriter, text: str) -> Trace:
    """As a page writes: forwards, back, with a token of one's own, and as a branch; then the film's numbers."""
    outputs = {OUTPUTS} if writer.abilities.has("head outputs") else set()
    session = writer.decode(text, extras=outputs)
    written = [session.step().token_id]
    session.back()
    session.force(written[0])
    branch = session.branch()
    while not branch.finished and len(branch.steps) <= STEPS:
        branch.step()
    trace = branch.trace().only_written(branch.steps)
    writer.spread(trace)
    return _shown(trace, writer.abilities)


def _shown(trace: Trace, abilities: Abilities) -> Trace:
    """The same trace, whose weights a page can show."""
    for site, layers in abilities.heads.items():
        trace.axes(site, whole_words=True)
        for layer in range(len(layers)):
            trace.weights(site, layer)
            if abilities.has("head outputs"):
                trace.head_output_deviation(site, layer)
    return trace


def _searched(writer: TextWriter, text: str) -> None:
    """As the tabs of beam search and of samples begin."""

    def stop(done: int, _most: int) -> None:
        # The first step reads one row, those after it several.
        if done > STEPS:
            raise _EnoughError

    for search in (partial(writer.beam_tree, beam=2), partial(writer.sample, n=2)):
        with suppress(_EnoughError):
            search(text, progress=stop)


@torch.inference_mode()
def _edited(reader: TextReader, trace: Trace) -> None:
    """As a page reads with a head switched off at each site."""
    for site in trace.sites:
        reader.run_again(trace, edits=[SwitchOff(site, 0, 0)])


@torch.inference_mode()
def _chosen(reader: TextReader, text: str) -> None:
    """As a page asks which word, or label, is likelier: two copies side by side."""
    place = reader.place(reader.asked(text))
    logits = reader.place_logits(place, 2)
    reader.vocabulary.tokens(logits[0].topk(min(2, logits.size(1))).indices.tolist())
