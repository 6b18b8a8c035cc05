"""Read a sentence with the chosen model, and show it above a figure beside what the model wrote."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models, traces
from viz.core.background_jobs import Task
from viz.core.html import literal
from viz.core.sites import CROSS
from viz.selection import state
from viz.ui import long_work
from viz.ui.frame import SKELETON_HEIGHT

if TYPE_CHECKING:
    from model import Trace

#: A text longer than this is shown with its end cut off; the figure below shows all of it.
MAX_SHOWN: Final = 600


@dataclass(frozen=True, slots=True)
class Line:
    """A text above a figure: what it is, its language ("" if nobody knows), and the text."""

    mark: str
    language: str
    text: str


def read_and_show(text: str) -> "Trace":
    """Translate a sentence, with a placeholder for the figure meanwhile, and show both sides.

    Raises:
        HeadlightError: the text, the checkpoint or the device will not do.
    """
    return show_trace_of(lambda: read(text))


def show_trace_of(compute: Callable[[], "Trace"]) -> "Trace":
    """As `read_and_show`, of the trace that `compute` returns."""
    slot = st.container()
    trace = compute()
    slot.html(lines_html(lines_of(trace)))
    return trace


def lines_of(trace: "Trace") -> list[Line]:
    """What the model read, and what it wrote if it wrote anything, each called what it is."""
    if trace.picture is not None:
        height, width = trace.picture.pixels.shape[:2]
        patches = f"{width} × {height} pixels as the model sees it, {trace.picture.rows} × {trace.picture.columns}"
        return [Line("PICTURE", "", trace.text), Line("", "", f"{patches} patches")]
    if models.is_english_german(state.current().model):
        return [Line("EN", "en", trace.text), Line("DE", "de", trace.translation)]
    if CROSS in trace.sites:
        return [Line("SOURCE", "", trace.text), Line("TARGET", "", trace.translation or "(nothing but special tokens)")]
    written = [Line("WRITTEN", "", trace.translation)] if trace.translation else []
    return [Line("TEXT", "", trace.text), *written]


def read(text: str, key: str = "trace") -> "Trace":
    """What the chosen model did with a text, with a placeholder for the figure meanwhile. Raises as `read_and_show`.

    Args:
        text: as typed.
        key: another one for each text of a page.
    """
    selection = state.current()
    picture = selection.common.picture_digest

    def compute(progress: traces.Progress) -> "Trace":
        return traces.trace(models.reader(selection.model), text, picture, progress)

    return computed(("read", text), compute, key)


def computed(what: Hashable, compute: Callable[[traces.Progress], "Trace"], key: str) -> "Trace":
    """The trace that `compute` makes, with a placeholder meanwhile, and with progress where that takes long.

    Args:
        what: tells this trace from others of the chosen model.
        compute: runs in another thread, which sees no session.
        key: another one for each trace that a page waits for.
    """
    selection = state.current()
    identity = (what, selection.model, selection.common.picture_digest)
    text = "Writing: {done} of at most {total} tokens"
    task = Task(identity, 0, "tokens", lambda progress: compute(progress.reached), text)
    above = st.container()
    with st.spinner("Reading; the first time, the model is loaded …"), st.skeleton(height=SKELETON_HEIGHT), above:
        return long_work.awaited(task, key=key)


def lines_html(lines: Sequence[Line]) -> str:
    """A sentence above its translation. All lines are escaped; each takes its own writing direction."""
    return (
        '<div style="display:grid;grid-template-columns:max-content 1fr;column-gap:0.9rem;row-gap:0.3rem;'
        'align-items:baseline;line-height:1.4">' + "".join(map(_line, lines)) + "</div>"
    )


def _line(line: Line) -> str:
    shown = " ".join(line.text.split())
    cut = shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + " …"
    size = "1.15rem" if line.mark else "0.9rem"
    return (
        f'<span aria-hidden="true" style="font-size:0.75rem;letter-spacing:0.08em;opacity:0.65">{line.mark}</span>'
        f'<span lang="{line.language}" dir="auto" style="font-size:{size};overflow-wrap:anywhere">{literal(cut)}</span>'
    )
