"""The translation that the decoding page shows, and the other ones that a person made of it.

A branch is a choice (what was done at which step of which branch), and all choices together are a value in the URL
(`Selection.branches`): whoever opens the link sees the same tree. Branch 0 is the model's own translation. What a
branch has computed stays in the session of the viewer.

The functions that change something draw nothing: a fragment, or a callback of one, draws the whole page again by
`st.rerun`. What cannot be done leaves everything as it was, with a sentence (`notices.answer`).
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import CancelledError, HeadlightError, SessionError
from viz.access import models
from viz.pages.decoding import steps
from viz.pages.decoding.data import branches
from viz.selection import branch_codes, notices, state
from viz.selection.branch_codes import Action, Choice, Draw, Path, Write, path_of, write_code
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.server.background_jobs import Task
from viz.text.messages import Message, _, said
from viz.ui import frame, long_work, sentence, words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace
    from model.reader import Writer


def no_branch(number: int, have: int) -> Message:
    """The address asks for a branch that is not there."""
    if not have:
        message = "The URL names branch {number}, but there are no branches. The model's own translation is shown."
        return said(message, number=number)
    message = (
        "The URL names branch {number}, but the number of branches is {have}. The model's own translation is shown."
    )
    return said(message, number=number, have=have)


def no_step(step: int, have: int) -> Message:
    """The address asks for a step, from 0, beyond the last of a translation."""
    message = "The URL names step {step}, but this translation ends at step {have}. The last step is shown."
    return said(message, step=step + 1, have=have)


def left_out(code: str, error: HeadlightError) -> Message:
    """A branch cannot be grown, and why."""
    message = "The branch “{code}” of the URL is ignored, together with the branches that start from it. {error}"
    return said(message, code=code, error=error)


def percent(probability: float) -> str:
    """In percent; what is not certain never reads as 100 %, nor what is possible as 0 %."""
    value = 100 * probability
    if 0 < value < 0.1:
        return "< 0.1%"
    if 99.9 < value < 100:
        return "> 99.9%"
    return f"{value:.1f}%" if value < 9.95 or value > 99 else f"{value:.0f}%"


def label_smoothing_note() -> str:
    """What label smoothing does to the chosen model's probabilities; "" where its training record names none.

    The target of the right token is 1 − ε + ε / vocabulary, that of every other token ε / vocabulary (§5.4).
    """
    choice = state.current().model
    smoothing = models.label_smoothing(choice)
    if smoothing is None:
        return ""
    tokens = len(models.vocabulary(models.reader(choice)))
    target = 1 - smoothing + smoothing / tokens
    message = (
        "Trained with label smoothing ε = {smoothing:g} (§5.4): the target was {target:.0%} for the correct "
        "token and ε / {tokens:,} for every other. So a confident choice has a probability near {target:.0%}, "
        "and no token has a probability of 0."
    )
    return _(message, smoothing=smoothing, target=target, tokens=tokens)


def slider(count: int) -> int:
    """The chosen step of so many, from 0; the head of the page marks its word."""
    if count == 1:
        frame.caption("This translation has only one step.")
        return 0
    key = state.bind("step")
    return int(
        st.select_slider(_("Step"), range(count), format_func=lambda step: str(step + 1), key=key, on_change=_slide)
    )


def _slide() -> None:
    state.take("step")
    st.rerun()


#: So many tokens are written, about, for branches that nobody looks at but in the tree of all.
MAX_UNASKED: Final = 400
_SESSIONS: Final = "decoding/sessions"


def choices() -> tuple[Choice, ...]:
    """What made each branch, number 1 first. Codes that mean nothing are dropped from the selection, with a notice."""
    decoding = state.current().decoding
    reading = branch_codes.read_codes(decoding.branches)
    codes = codes_of(reading.choices)
    if codes != decoding.branches:
        number_of = reading.number_of
        against = None if decoding.compared_branch is None else number_of.get(decoding.compared_branch)
        state.change(branches=codes, branch=number_of.get(decoding.branch, 0), compared_branch=against)
        notices.tell(*reading.problems)
    elif decoding.branch > len(codes):
        notices.tell(no_branch(decoding.branch, len(codes)))
        state.change(branch=0)
    if (state.current().decoding.compared_branch or 0) > len(codes):
        state.correct(compared_branch=None)
    return reading.choices


def shown(head: "DeltaGenerator") -> "Trace":
    """The trace of the branch that is shown, with the sentence and its translation in the head of the page.

    Raises:
        HeadlightError: the text, the checkpoint or the device will not do, or at a step no token has a probability.
    """
    trace = _shown()
    if (step := state.current().common.step) >= len(trace.steps):
        last = len(trace.steps)
        notices.tell(no_step(step, last))
        state.change(step=last - 1)
    steps.follow(trace)
    words.show(trace, head, steps.chosen_in(trace), partial(steps.keep, trace), is_proposed=False)
    branches.check_probabilities(trace)
    return trace


def trace_of(number: int) -> "Trace":
    """The trace of a branch, grown as far as it is not known yet. Raises what growing it raises."""
    return trace_along(path_of(choices(), number))


def trace_along(path: Path) -> "Trace":
    """The trace of a branch, or of one that is only tried, as `trace_of`."""
    return branches.grow(*source(), path)


def source() -> "tuple[branches.Sessions, Writer, str]":
    """What every branch is grown from: what this viewer's branches have computed, the model, and the sentence."""
    selection = state.current()
    return sessions(), models.writer(selection.model), selection.common.text


def sessions() -> branches.Sessions:
    """What this viewer's branches have computed."""
    own: branches.Sessions = st.session_state.setdefault(_SESSIONS, branches.Sessions())
    return own


def known_traces() -> list["Trace | None"]:
    """The trace of every branch, number 0 first; None of one that takes long to grow and was not looked at yet.

    One that cannot be grown is dropped with a notice.
    """
    root = trace_of(0)
    known: list[Trace | None] = [root]
    left = MAX_UNASKED
    while len(known) <= len(made := choices()):
        path = path_of(made, len(known))
        cost = 0 if branches.is_grown(*source(), path) else max(1, len(root.steps) - path[-1][0])
        if cost > left:
            known.append(None)
            continue
        left -= cost
        try:
            known.append(trace_along(path))
        except HeadlightError as error:
            _drop(len(known), error)
    return known


def written(
    own: branches.Sessions, writer: "Writer", text: str, made: Sequence[Choice]
) -> "list[Trace | HeadlightError]":
    """The trace of every branch, number 0 first, or why there is none; in any thread, and however long it takes."""

    def grown(number: int) -> "Trace | HeadlightError":
        try:
            return branches.grow(own, writer, text, path_of(made, number))
        except HeadlightError as error:
            return error

    return [grown(number) for number in range(len(made) + 1)]


def looked_at(number: int) -> "Trace":
    """The trace of a branch, with progress where it has to be grown. Raises what growing it raises."""
    return looked_at_along(path_of(choices(), number), "trace-compared")


def looked_at_along(path: Path, key: str) -> "Trace":
    """The trace of a branch, or of one that is only tried, as `looked_at`; each of a page has a key of its own."""
    own, writer, text = source()
    task = Task(
        ("written", writer.key, text, path),
        0,
        said("tokens"),
        lambda progress: branches.grow(own, writer, text, path, progress.reached),
        said("Writing: {done} of at most {total} tokens"),
    )
    return long_work.awaited(task, key=key)


def write(step: int, token_ids: tuple[int, ...]) -> None:
    """Write other tokens at a step of the shown branch, decode on, and show the result as a new branch."""
    trace = _or_notice(step)
    if trace is None:
        return
    ends = step + len(token_ids)
    written = [written_step.token_id for written_step in trace.steps]
    if tuple(written[step:ends]) == token_ids and list(trace.predicted_ids[ends:]) == written[ends:]:
        notices.answer(
            said("This translation already has that token at step {step}. Choose another token.", step=step + 1)
        )
    else:
        add(step, Write(token_ids))


def draw(step: int, temperature: int, top_k: int, top_p: int) -> None:
    """Draw the tokens from a step on, and show that as a branch; temperature and top p in hundredths, top k 0 for all.

    The seed is the selection's.
    """
    if _or_notice(step) is not None:
        add(step, Draw(temperature, top_k, top_p, state.current().decoding.sampling_seed))


def add(step: int, action: Action) -> None:
    """Make a branch of the one that is shown, at a step, and show it there; one that is there already is only shown."""
    made = choices()
    origin = branch_codes.origin_of(made, state.current().decoding.branch, step, action)
    choice = Choice(origin, step, action)
    if choice not in made:
        try:
            _begin(choice, made)
        except HeadlightError as error:
            notices.answer(error.message)
            return
        made = (*made, choice)
        state.change(branches=codes_of(made))
    go(made.index(choice) + 1, step)


def show(number: int) -> None:
    """Show a branch, at the step where it begins; the model's own at the step that was shown, if it is as long."""
    made = choices()
    if 0 < number <= len(made):
        go(number, made[number - 1].step)
    elif number == 0:
        go(0, min(state.current().common.step, len(trace_of(0).steps) - 1))


def compare(number: int | None) -> None:
    """Compare the branch that is shown with this one; with None, with the one that it leaves."""
    if number is None or 0 <= number <= len(choices()):
        state.change(compared_branch=number)


def compared(made: Sequence[Choice]) -> int | None:
    """The branch that the one shown is compared with: the chosen one, else the one that it leaves, if any."""
    decoding = state.current().decoding
    against = decoding.compared_branch
    if against is not None and against != decoding.branch:
        return against
    if decoding.branch:
        return made[decoding.branch - 1].parent
    return None


def _shown() -> "Trace":
    root = _computed(())
    while True:
        made = choices()
        number = state.current().decoding.branch
        if number == 0:
            return root
        try:
            return _computed(path_of(made, number))
        except CancelledError:
            raise
        except HeadlightError as error:
            _drop(number, error)


def _computed(path: Path) -> "Trace":
    """The trace of a branch, with its progress."""
    selection, own = state.current(), sessions()
    # The model may be loaded only in the other thread, below the placeholder.
    return sentence.computed(
        ("written", selection.common.text, path),
        lambda progress: branches.grow(own, models.writer(selection.model), selection.common.text, path, progress),
        "trace-branch" if path else "trace",
    )


def _or_notice(step: int) -> "Trace | None":
    """The trace that is shown, if it has this step; else there is a notice."""
    try:
        trace = trace_of(state.current().decoding.branch)
        if not 0 <= step < len(trace.steps):
            raise SessionError(branches.finished_before(step, len(trace.steps)))
    except HeadlightError as error:
        notices.answer(error.message)
        return None
    return trace


def _begin(choice: Choice, made: Sequence[Choice]) -> None:
    if len(made) >= branch_codes.MAX_BRANCHES:
        message = "At most {max_branches} branches are possible. Remove one of them first."
        raise SessionError(message, max_branches=branch_codes.MAX_BRANCHES)
    if len(".".join(codes_of((*made, choice)))) > MAX_TEXT_IN_URL:
        raise SessionError("The URL has no room for more branches. Remove one of them first.")
    branches.begin(*source(), (*path_of(made, choice.parent), (choice.step, choice.action)))


def _drop(number: int, error: HeadlightError) -> None:
    """Leave out a branch of the address that cannot be grown, or the one before it that is to blame."""
    made = choices()
    for culprit in branch_codes.line_of(made, number):
        try:
            trace_along(path_of(made, culprit))
        except HeadlightError as reason:
            number, error = culprit, reason
            break
    kept, number_of = branch_codes.without(made, number)
    decoding = state.current().decoding
    against = None if decoding.compared_branch is None else number_of.get(decoding.compared_branch)
    state.change(branches=codes_of(kept), branch=number_of.get(decoding.branch, 0), compared_branch=against)
    notices.tell(left_out(write_code(made[number - 1]), error))


def codes_of(made: Sequence[Choice]) -> tuple[str, ...]:
    """The branches as the selection holds them."""
    return tuple(map(write_code, made))


def go(number: int, step: int) -> None:
    """Show a step of a branch; both must be there."""
    selection = state.current()
    against = None if selection.decoding.compared_branch == number else selection.decoding.compared_branch
    state.put(selection.changed(branch=number, step=step, compared_branch=against))
