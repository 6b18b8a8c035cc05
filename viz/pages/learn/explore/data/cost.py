"""What each step of a translation costs, with the key/value cache and without."""

from typing import Final

from model import Trace, later
from model.decoding.cost import DecoderSizes, StepCost, decoder_sizes, step_cost
from model.reader import Reader
from model.translator import Translator
from viz.server.caches import cached

#: Traces whose costs are kept.
MAX_KEPT: Final = 8


@cached(max_entries=MAX_KEPT)
def step_costs(trace: Trace, reader: Reader) -> tuple[StepCost, ...]:
    """The cost of each step, with the key/value cache and without. Raises a TraceError if the model does not tell."""
    sizes = _sizes(trace, reader)
    prompt = len(trace.target_tokens) - len(trace.steps) + 1
    return tuple(step_cost(sizes, len(trace.source_ids), step, prompt) for step in range(len(trace.steps)))


def _sizes(trace: Trace, reader: Reader) -> DecoderSizes:
    if isinstance(reader, Translator):
        return decoder_sizes(reader.config)
    assert isinstance(reader, later.text_reader.TextReader)
    return later.decoder_lens.library_sizes(reader, trace)
