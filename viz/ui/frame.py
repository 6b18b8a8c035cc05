"""What stands around every figure: title, how to read it, the sentence with its translation, and errors as sentences.

Knows nothing of what a page shows. Text of people reaches the page escaped: as HTML by `viz.core.html`.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import loader
from viz.core import concurrency_limit
from viz.core.background_jobs import Task
from viz.core.html import literal
from viz.core.sites import CROSS
from viz.selection import state
from viz.ui import long_work
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Abilities, Trace

#: Height of the place that a figure will take, while the model is loading.
SKELETON_HEIGHT: Final = 420
#: Of plotly's many buttons, the two that people want: the way back from a zoom, and the picture to take along.
CHART_CONFIG: Final = {
    "displaylogo": False,
    # plotly can upload a chart; should its button ever appear, it has nowhere to go.
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "select2d", "lasso2d"],
}
#: A saved picture has so many pixels for each on a common screen.
PICTURE_SCALE: Final = 2
#: A text longer than this is shown with its end cut off; the figure below shows all of it.
MAX_SHOWN: Final = 600


def chart_config(name: str) -> dict[str, Any]:
    """`CHART_CONFIG` with a camera that saves in the format that was chosen, under a name of `viz.core.file_names`."""
    chosen = state.current().common.picture_format.lower()
    camera = {"format": chosen, "filename": name, "scale": PICTURE_SCALE if chosen == "png" else 1}
    return CHART_CONFIG | {"toImageButtonOptions": camera}


def title(text: str, how_to_read: str) -> None:
    """The head of a page. It is on the screen before anything is computed."""
    st.title(text, anchor=False)
    st.caption(how_to_read)
    concurrency_limit.acquire()


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show what a person can put right as a message in place of the figure; the rest of the page stays alive."""
    try:
        yield
    except HeadlightError as error:
        st.error(plain(str(error)), icon=":material/error:")


def fragment(show: Callable[..., None]) -> Callable[..., None]:
    """A part of a page that is drawn anew without the rest of it, shows its own errors and keeps the URL up to date."""

    @st.fragment
    @wraps(show)
    def part(*arguments: Any) -> None:
        with errors_shown():
            show(*arguments)
        state.publish()

    return part


def tabs(field: str, contents: Mapping[str, Callable[..., None]], *arguments: Any) -> None:
    """Tabs by their labels, of which only the open one is computed; `field` of the selection remembers it."""
    # No `default`: another default is another widget to Streamlit, and whoever came by keyboard would lose their place.
    places = st.tabs(list(contents), key=state.bind(field), on_change=state.take, args=(field,))
    for place, show in zip(places, contents.values(), strict=True):
        if place.open:
            with place:
                show(*arguments)


def read_sentence(text: str) -> "Trace":
    """Translate a sentence, with a placeholder for the figure meanwhile, and show both sides.

    Raises:
        HeadlightError: the text, the checkpoint or the device will not do.
    """
    return show_sentence(lambda: read(text))


def show_sentence(compute: Callable[[], "Trace"]) -> "Trace":
    """As `read_sentence`, of the trace that `compute` returns."""
    slot = st.container()
    trace = compute()
    slot.html(sentence_html(lines_of(trace)))
    return trace


def lines_of(trace: "Trace") -> list["Line"]:
    """What the model read, and what it wrote if it wrote anything, each called what it is."""
    if trace.picture is not None:
        height, width = trace.picture.pixels.shape[:2]
        patches = f"{width} × {height} pixels as the model sees it, {trace.picture.rows} × {trace.picture.columns}"
        return [Line("PICTURE", "", trace.text), Line("", "", f"{patches} patches")]
    if loader.is_english_german(state.current()):
        return [Line("EN", "en", trace.text), Line("DE", "de", trace.translation)]
    if CROSS in trace.sites:
        return [Line("SOURCE", "", trace.text), Line("TARGET", "", trace.translation or "(nothing but special tokens)")]
    written = [Line("WRITTEN", "", trace.translation)] if trace.translation else []
    return [Line("TEXT", "", trace.text), *written]


def for_translators(why: str, instead: str = "") -> bool:
    """Whether what follows needs a translator and the chosen model is none; then sentences say so.

    Args:
        why: what a translator is needed for, as a sentence.
        instead: what there is of this model, as a sentence.
    """
    with st.spinner("Loading the model …"):
        if loader.is_translator(state.current()):
            return False
        family = loader.abilities(state.current()).family
    name = loader.name_of(state.current())
    st.info(
        plain(f"{why} {name} ({family}) is no translator of Headlight's own kind, so it is not shown here. {instead}"),
        icon=":material/info:",
    )
    return True


def lacking(abilities: "Abilities", view: str, instead: str = "") -> bool:
    """Whether the model lacks what a page is about to show; then a sentence says so, and what there is instead."""
    if view not in abilities.lacks:
        return False
    why = abilities.lacks[view]  # type: ignore[index]
    st.info(plain(" ".join((why[0].upper() + why[1:], instead)).strip()), icon=":material/info:")
    return True


def read(text: str, key: str = "trace") -> "Trace":
    """What the chosen model did with a text, with a placeholder for the figure meanwhile. Raises as `read_sentence`.

    Args:
        text: as typed.
        key: another one for each text of a page.
    """
    selection = state.current()
    return computed(("read", text), lambda progress: loader.trace(text, selection, progress), key)


def computed(what: Hashable, compute: Callable[[loader.Progress], "Trace"], key: str) -> "Trace":
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


@dataclass(frozen=True, slots=True)
class Line:
    """A text that stands above a figure: what it is, its language ("" if nobody knows), and the text."""

    mark: str
    language: str
    text: str


def sentence_html(lines: Sequence[Line]) -> str:
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
