"""Open the decoding page on the step and the head that are most worth seeing, until a person chooses others."""

from typing import TYPE_CHECKING

from viz.access import long_texts, models, traces
from viz.pages.decoding.data import effects
from viz.selection import state
from viz.selection.branch_codes import EditHead
from viz.text.sites import CROSS, DECODER
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
    state.propose(step=least_sure_step(trace) if step is None or step >= len(trace.steps) else step)


def strongest_edit(step: int) -> EditHead | None:
    """The edit of one head that makes the token of a step least probable; None where it cannot be said, or not quickly.

    Of the cross-attention, if there is one; only of the model's own translation.
    """
    selection = state.current()
    if selection.decoding.branch or "edits" in models.abilities(selection.model).lacks:
        return None
    writer, text = models.writer(selection.model), selection.common.text
    trace = traces.written(writer, text)
    if any(long_texts.is_long(trace, site) for site in trace.sites):
        return None
    return effects.strongest_edit(writer, text, step, CROSS if CROSS in trace.sites else DECODER)


def rival(trace: "Trace", step: int) -> "Candidate | None":
    """Return the best alternative to the token of a step; None if there is none.

    It is what the model writes there under `strongest_edit`; where that changes nothing, the most probable other token
    that is more than the same one in capitals.
    """
    written = trace.steps[step]
    others = [each for each in written.candidates if each.token_id != written.token_id]
    if (edit := strongest_edit(step)) is not None:
        selection = state.current()
        edited = effects.written_under(models.writer(selection.model), selection.common.text, step, edit)
        if (found := next((each for each in others if each.token_id == edited), None)) is not None:
            return found
    distinct = [each for each in others if each.token.casefold() != written.token.casefold()]
    return next(iter(distinct or others), None)


def least_sure_step(trace: "Trace") -> int:
    """The step at which the best other token comes closest to the one that was written."""

    def lead(step: int) -> float:
        of = trace.steps[step]
        others = [candidate.log_prob for candidate in of.candidates if candidate.token_id != of.token_id]
        return of.log_prob - max(others) if others else float("inf")

    return min(range(len(trace.steps)), key=lead)
