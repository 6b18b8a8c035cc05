"""What stands around every figure: title, how to read it, the sentence with its translation, and errors as sentences.

Knows nothing of what a page shows. Text of people reaches the page escaped: as HTML by `viz.markup`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.errors import HeadlightError
from viz import loader, state
from viz.controls import plain
from viz.markup import literal

if TYPE_CHECKING:
    from model import Trace

#: Height of the place that a figure will take, while the model is loading.
SKELETON_HEIGHT: Final = 420
#: Seconds after which a translation in the making gets a progress bar; most are done before.
PATIENCE: Final = 0.7
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
    """`CHART_CONFIG` with a camera that saves in the format that was chosen, under a name of `viz.export.names`."""
    chosen = state.current().pictures.lower()
    camera = {"format": chosen, "filename": name, "scale": PICTURE_SCALE if chosen == "png" else 1}
    return CHART_CONFIG | {"toImageButtonOptions": camera}


def title(text: str, how_to_read: str) -> None:
    """The head of a page. It is on the screen before anything is computed."""
    st.title(text, anchor=False)
    st.caption(how_to_read)


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
    return show_sentence(lambda progress: loader.trace(text, state.current(), progress))


def show_sentence(compute: Callable[[loader.Progress], "Trace"]) -> "Trace":
    """As `read_sentence`, of the trace that `compute` makes; it tells how far it is."""
    slot = st.container()
    trace = computed(compute)
    slot.html(sentence_html(trace.text, trace.translation))
    return trace


def computed(compute: Callable[[loader.Progress], "Trace"]) -> "Trace":
    """The trace that `compute` makes, with a placeholder meanwhile."""
    bar = st.empty()
    started = monotonic()

    def show_progress(written: int, most: int) -> None:
        if monotonic() - started > PATIENCE:
            bar.progress(written / most, text=f"Writing the translation: {written} of at most {most} tokens")

    with st.spinner("Translating; the first time, the model is loaded …"), st.skeleton(height=SKELETON_HEIGHT):
        trace = compute(show_progress)
    bar.empty()
    return trace


def sentence_html(source: str, translation: str) -> str:
    """A sentence above its translation. Both are escaped; each takes its own writing direction."""
    return (
        '<div style="display:grid;grid-template-columns:max-content 1fr;column-gap:0.9rem;row-gap:0.3rem;'
        'align-items:baseline;line-height:1.4">' + _line("EN", "en", source) + _line("DE", "de", translation) + "</div>"
    )


def _line(mark: str, language: str, text: str) -> str:
    shown = " ".join(text.split())
    cut = shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + " …"
    return (
        f'<span aria-hidden="true" style="font-size:0.75rem;letter-spacing:0.08em;opacity:0.65">{mark}</span>'
        f'<span lang="{language}" dir="auto" style="font-size:1.15rem;overflow-wrap:anywhere">{literal(cut)}</span>'
    )
