"""Open the decoding page on the step and the head that are most worth seeing, until a person chooses others."""

from typing import TYPE_CHECKING

from viz.access import head_verdict
from viz.selection import state
from viz.ui import finding

if TYPE_CHECKING:
    from model import Candidate, Trace


def propose(trace: "Trace") -> None:
    """Propose the head that links a pronoun to its antecedent, and the step that writes the pronoun's translation.

    Without such a step it is the least sure one.
    """
    finding.open_on_finding(trace)
    link = finding.of(trace).link
    step = None if link is None else link.step
    state.propose(step=head_verdict.least_sure_step(trace) if step is None or step >= len(trace.steps) else step)


def rival(trace: "Trace", step: int) -> "Candidate | None":
    """The most probable other token of a step that is more than the same one in capitals; None if there is no other."""
    written = trace.steps[step]
    others = [each for each in written.candidates if each.token_id != written.token_id]
    distinct = [each for each in others if each.token.casefold() != written.token.casefold()]
    return next(iter(distinct or others), None)
