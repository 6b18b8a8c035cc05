"""What the steps of a translation cost."""

from typing import TYPE_CHECKING

from model.decoding.cost import StepCost, step_cost

if TYPE_CHECKING:
    from model import Trace, Translator


def step_costs(trace: "Trace", translator: "Translator") -> tuple[StepCost, ...]:
    """What each step of a trace cost, and what it would have cost without the key/value cache."""
    return tuple(step_cost(translator.config, len(trace.source_ids), step) for step in range(len(trace.steps)))
