"""Tell whose message of a chat each label of a picture is of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model import later
from viz.access import models
from viz.access.word_links import Words
from viz.pictures.focus import Run
from viz.selection.model_choice import ModelChoice
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Trace
    from model.trace.axes import Axis, RoleRun


@dataclass(frozen=True, slots=True)
class ChatPart:
    """Words of a chat side by side that are of one role; "" for what the template wrote."""

    role: str
    words: tuple[str, ...]


def runs(trace: "Trace", axis: "Axis | Words") -> "tuple[RoleRun, ...]":
    """The runs of labels along a decoder's axis that are of one role; none where nothing is read as a chat."""
    return later.axes.role_runs(trace.roles, axis.groups)


def spans(trace: "Trace", axis: "Axis | Words") -> tuple[Run, ...]:
    """The same runs as pictures take them."""
    return tuple((run.role, run.begin, run.end) for run in runs(trace, axis))


def spans_of_tokens(trace: "Trace") -> tuple[Run, ...]:
    """The same runs, of all tokens that a decoder read."""
    return spans(trace, later.axes.single_tokens(trace.target_tokens)) if trace.roles else ()


def parts(trace: "Trace", most: int) -> tuple[ChatPart, ...]:
    """What a decoder read, as far as the text that was given goes, in words and by roles; at most so many words."""
    axis = later.axes.whole_words(trace.target_tokens[: _num_given(trace)], trace.special_tokens)
    found, at = [], 0
    for run in runs(trace, axis):
        found += [ChatPart("", axis.labels[at : run.begin]), ChatPart(run.role, axis.labels[run.begin : run.end])]
        at = run.end
    found.append(ChatPart("", axis.labels[at:]))
    return _cut([part for part in found if part.words], most)


def why_no_roles(trace: "Trace", choice: ModelChoice) -> str:
    """Why the roles in a text that is read as a chat are not known, as a sentence; "" where they are, or none is."""
    if trace.roles or not models.reads_chat(choice):
        return ""
    chat = later.opening.as_chat(models.reader(choice)).chat(trace.text)
    if not chat.why_no_roles:
        return ""
    return _("It is unknown which tokens belong to which message: {why}.", why=chat.why_no_roles)


def _num_given(trace: "Trace") -> int:
    """The tokens that were read before the first that was written."""
    return trace.rows_before + 1 if trace.translation else len(trace.target_tokens)


def _cut(parts: list[ChatPart], most: int) -> tuple[ChatPart, ...]:
    kept = []
    for part in parts:
        kept.append(ChatPart(part.role, part.words[:most]) if len(part.words) > most else part)
        most -= len(part.words)
        if most <= 0:
            break
    return tuple(kept)
