"""Trace a text that differs from another in a word, so that both can be compared row by row."""

from dataclasses import replace

from model.errors import TraceError
from model.opening import as_chooser
from model.reader import Reader
from model.trace.trace import Trace


def trace_twin(reader: Reader, trace: Trace, text: str) -> Trace:
    """A twin as the model reads it; in an encoder–decoder, over the same target as the trace.

    Raises an InputTextError if the model refuses the text, and a TraceError if it says no words.
    """
    if "decoder.cross" not in trace.sites:
        return reader.trace(text)
    if "word choice" in reader.abilities.lacks:
        raise TraceError(reader.abilities.lacks["word choice"])
    chooser, target = as_chooser(reader), trace.target_ids
    place = replace(chooser.place(text), target=target, row=len(target) - 1)
    return chooser.trace_place(place, target[-1])
