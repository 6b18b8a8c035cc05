"""What the steps of a translation cost."""

from typing import TYPE_CHECKING

from model.decoding.cost import DecoderSizes, StepCost, decoder_sizes, step_cost

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Reader


def step_costs(trace: "Trace", reader: "Reader") -> tuple[StepCost, ...]:
    """What each step of a trace cost, and what it would have cost without the key/value cache.

    Raises:
        TraceError: the model does not tell; it says why.
    """
    sizes = _sizes(trace, reader)
    prompt = len(trace.target_tokens) - len(trace.steps) + 1
    return tuple(step_cost(sizes, len(trace.source_ids), step, prompt) for step in range(len(trace.steps)))


def _sizes(trace: "Trace", reader: "Reader") -> DecoderSizes:
    from model.translator import Translator

    if isinstance(reader, Translator):
        return decoder_sizes(reader.config)
    from model.adapters.decoder_sizes import library_sizes
    from model.adapters.text_reader import TextReader

    assert isinstance(reader, TextReader)
    return library_sizes(reader, trace)
