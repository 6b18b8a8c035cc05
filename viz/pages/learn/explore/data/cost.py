"""What each step of a translation costs, with the key/value cache and without."""

from typing import Final

from model import Trace
from model.decoding.cost import StepCost, step_cost
from model.description import follows_paper
from model.reader import Writer
from viz.server.caches import cached

#: Traces whose costs are kept.
MAX_KEPT: Final = 8


@cached(max_entries=MAX_KEPT)
def step_costs(trace: Trace, writer: Writer) -> tuple[StepCost, ...]:
    """The cost of each step, with the key/value cache and without. Raises a TraceError if the model does not tell."""
    sizes = writer.decoder_sizes(trace)
    prompt = len(trace.target_tokens) - len(trace.steps) + 1
    return tuple(step_cost(sizes, len(trace.source_ids), step, prompt) for step in range(len(trace.steps)))


@cached(max_entries=MAX_KEPT)
def is_papers(trace: Trace, writer: Writer) -> bool:
    """Whether the formulas in the paper's sizes hold for the decoder of a model."""
    return follows_paper(writer, trace)
