"""Frame every page: its layout, title, tabs, charts and captions, its errors as sentences, what a model cannot show."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from model.errors import HeadlightError, memory_short
from viz import theme
from viz.access import models
from viz.pictures.page_tools import CopyLink, copy_link
from viz.selection import notices, state
from viz.server import limits, opening_page, scripts
from viz.server.widgets import sent
from viz.text import messages
from viz.text.messages import Message, _, in_a_row, said, shown
from viz.text.written import NAMES, byte_count
from viz.ui import downloads, present, sidebar, terms
from viz.ui.collection import pins
from viz.ui.controls import plain, with_code

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from streamlit.delta_generator import DeltaGenerator

    from model import Abilities

#: As plotly.js has them in English; the texts of buttons that `frame.CHART_CONFIG` takes away are not among them.
_CHART_TEXTS: Final[tuple[Message, ...]] = (
    said("Download plot as a PNG"),
    said("Download plot"),
    said("Reset axes"),
    said("Double-click to zoom back out"),
    said("Double-click on legend to isolate one trace"),
    said("Sorry, there was a problem downloading your image!"),
    said("trace"),
)


def _locale_config() -> dict[str, object]:
    """The part of plotly's configuration that gives it the language; nothing of it is fetched."""
    code = messages.language()
    if code == messages.ENGLISH:
        return {}
    tag = messages.tag(code)
    dictionary = {str(text): messages.template(text) for text in _CHART_TEXTS}
    return {"locale": tag, "locales": {tag: {"dictionary": dictionary}}}


#: Height that a figure will take, while the model is loading.
SKELETON_HEIGHT: Final = 420
_REMOVED: Final = ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "select2d", "lasso2d"]
#: Of plotly's many buttons, the two that people want: the way back from a zoom, and the picture to take along.
CHART_CONFIG: Final[dict[str, object]] = {
    "displaylogo": False,
    # plotly can upload a chart; should its button ever appear, it has nowhere to go.
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": _REMOVED,
}
#: A saved picture has so many pixels for each on a common screen.
PICTURE_SCALE: Final = 2

Given = ParamSpec("Given")
Label = TypeVar("Label", bound=str)
#: A tab: its label, by which the selection and the address know it, and the function that draws it.
Tab = tuple[Label, Callable[..., None]]


def chart_config(name: str) -> dict[str, object]:
    """`CHART_CONFIG` with a camera that saves in the format that was chosen, under a name of `viz.text.written`."""
    # plotly knows no PDF: `copy_link.js` makes it.
    chosen = state.current().common.picture_format.replace("PDF", "SVG").lower()
    camera = {"format": chosen, "filename": name, "scale": PICTURE_SCALE if chosen == "png" else 1}
    return CHART_CONFIG | {"toImageButtonOptions": camera} | _locale_config()


def chart(figure: "Figure", key: str, name: str, alt: str, most: int = present.CHART_HEIGHT) -> None:
    """Show a plotly figure with the camera of `chart_config(name)`; `alt` is what it shows, for those who hear it.

    `most`: its height on a projector.
    """
    with _room(figure, most) as shown_figure:
        st.plotly_chart(shown_figure, key=key, config=chart_config(name), alt=shown(alt))


#: Attention, layer and head, from 0.
Head = tuple[str, int, int]


def chart_of_heads(
    figure: "Figure", key: str, name: str, alt: str, on_several: Callable[[Sequence[Head]], None] | None = None
) -> None:
    """As `chart`, of points that are heads: a click opens one; `on_several` hears which ones a person drew around.

    Their `customdata` begins with layer and head, from 0; where they are of several attentions, with the site before.
    """
    config, modes = chart_config(name), ["points"]
    if on_several is not None:
        modes += ["box", "lasso"]
        kept = ("lasso2d", "select2d", "zoom2d")
        config["modeBarButtonsToRemove"] = [button for button in _REMOVED if button not in kept]
        config["displayModeBar"] = True
    with _room(figure, present.PICTURE_HEIGHT) as shown_figure:
        st.plotly_chart(
            shown_figure,
            key=key,
            on_select=partial(open_point, key, on_several),
            selection_mode=modes,  # type: ignore[arg-type]
            config=config,
            alt=shown(alt),
        )


@contextmanager
def _room(figure: "Figure", most: int) -> "Iterator[Figure]":
    """Where a chart is shown, and the chart as it is shown there: on a projector it fills a box of its height."""
    for of_all_axes in (figure.update_xaxes, figure.update_yaxes):
        of_all_axes(theme.AXIS_TEXT)
    if not present.is_on():
        yield figure
        return
    larger = present.enlarged(figure, most)
    with st.container(height=larger.layout.height, border=False):
        yield larger


def open_point(key: str, on_several: Callable[[Sequence[Head]], None] | None = None) -> None:
    """Open the head of a point that was clicked; a click elsewhere does nothing. Arguments as of `chart_of_heads`.

    What the browser says is checked; a head that does not exist becomes one that does when the page is drawn.
    """
    points = sent(key, "selection", "points")
    found = map(_head_of, points) if isinstance(points, list) else ()
    heads = [head for head in found if head is not None]
    if len(heads) > 1 and on_several is not None:
        on_several([(site or state.current().common.site, layer, head) for site, layer, head in heads])
    elif heads:
        site, layer, head = heads[0]
        state.change(layer=layer, head=head, **({"site": site} if site else {}))


def _head_of(point: object) -> Head | None:
    """The head of a point that the browser named, with "" for the attention where it says none; None for no head."""
    custom = point.get("customdata") if isinstance(point, dict) else None
    # plotly hands back a list as it was, or as an object of its positions.
    match list(custom.values()) if isinstance(custom, dict) else custom:
        case [str(site), int(layer), int(head), *_] if site in NAMES and min(layer, head) >= 0:
            return site, layer, head
        case [int(layer), int(head), *_] if min(layer, head) >= 0:
            return "", layer, head
    return None


def note(text: str, /, **values: object) -> None:
    """Show a sentence beside the information sign; arguments as of `messages._`."""
    st.info(terms.explained(_(text, **values)), icon=":material/info:")


def caption(text: str, /, **values: object) -> None:
    """Show a remark, or how a picture is read, in small print; arguments as of `messages._`."""
    terms.caption(_(text, **values))


def show_notices(place: "DeltaGenerator") -> None:
    """Show above the page what a person is told there."""
    with place:
        for sentence in notices.sentences(state.current()):
            st.info(with_code(sentence), icon=":material/info:")


def title(text: str, how_to_read: str | None = None) -> "DeltaGenerator":
    """The head of a page, in sight before anything is computed; the room beside the title is returned.

    `how_to_read` is behind a question mark; None where that stands beside the title.
    """
    with st.container(key="page-head", horizontal=True, vertical_alignment="center"):
        st.title(shown(text), anchor=False, help=how_to_read and shown(how_to_read), width="content")
        beside = st.container(width="stretch", gap=None)
        common = state.current().common
        with st.container(key="page-tools", horizontal=True, width="content", vertical_alignment="center", gap=None):
            needs, note = downloads.link_needs(state.current())
            if not present.is_on():
                downloads.menu()
                pins.menu()
            copy_link(CopyLink(needs, note, common.picture_paper, common.picture_format))
            present.show()
        if present.is_on():
            present.place()
        else:
            present.forget()
    limits.acquire()
    return beside


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show what a person can put right as a message in place of the figure; the rest of the page stays alive."""
    try:
        yield
    except Exception as error:
        told = error if isinstance(error, HeadlightError) else memory_short(error)
        if told is None:
            raise
        st.error(with_code(told.message), icon=":material/error:")


def check_settings() -> None:
    """End the run with a sentence where the server was started with a setting that cannot be."""
    try:
        limits.rules()
    except HeadlightError as error:
        st.error(with_code(error.message), icon=":material/error:")
        st.stop()


@contextmanager
def page_run() -> Iterator[None]:
    """Around the run of a page: its slot among those that compute, and on a shared server its time."""
    with limits.page_run(), errors_shown(), limits.limited():
        yield


def fragment(show: Callable[Given, None]) -> Callable[Given, None]:
    """A part of a page that reruns without the rest of it, shows its own errors and keeps the address up to date.

    What it is given is of the model that was chosen when the page was drawn: where another is chosen by now, the whole
    page runs.
    """

    key = _part_key(show)

    @st.fragment(key=key)
    def part(model: object, draw: Callable[[], None]) -> None:
        if model != state.current().model:
            st.rerun()
        with limits.at_work(), errors_shown(), limits.limited():
            draw()
        if state.must_tell():
            st.rerun()
        state.publish()
        present.draw()

    @wraps(show)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> None:
        part(state.current().model, partial(show, *args, **kwargs))

    return drawn


def rerun(part: Callable[..., None]) -> None:
    """Rerun a `fragment` alone, from the callback of a widget outside of it; all of the page where it is not shown."""
    with suppress(StreamlitAPIException):
        st.rerun(_part_key(part))


def _part_key(part: Callable[..., None]) -> str:
    return f"{part.__module__}.{part.__qualname__}"


def tabs(field: str, contents: Sequence[Tab[Label]], *arguments: object) -> None:
    """Show tabs (label → what draws it with `arguments`), only the open one computed: by `field`, else the first."""
    contents = [tab for tab in contents if sidebar.is_shown(field, tab[0])] or contents
    labels = [label for label, _ in contents]
    if state.current().value(field) not in labels:
        state.correct(**{field: labels[0]})
    # No `default`: another default is another widget to Streamlit, and whoever came by keyboard would lose the focus.
    # Told only where it differs: a press while a run is under way is not undone by what that run says of before.
    names = {_(label): label for label in labels}
    key = state.bind(field, _(state.value(field, str)), always=False)
    slots = st.tabs(list(names), key=key, on_change=state.take, args=(field, names.__getitem__))
    for slot, (_label, show) in zip(slots, contents, strict=True):
        if slot.open:
            with slot, errors_shown():
                show(*arguments)


def unfolding(
    label: str, key: str, draw: Callable[Given, object], *arguments: Given.args, **named: Given.kwargs
) -> None:
    """What is drawn only while a person has unfolded it; `key` is that of the widget."""
    with st.expander(label, on_change="rerun", key=key) as part:
        if part.open:
            draw(*arguments, **named)


def loading(otherwise: str = said("Loading the model …")) -> AbstractContextManager[None]:
    """Say meanwhile which model is loaded, and how large it is; where it is loaded already, something else."""
    choice = state.current().model
    size = models.bytes_to_load(choice)
    name = plain(models.name_of(choice))
    text = _("Loading {name}, {size} …", name=name, size=byte_count(size)) if size else shown(otherwise)
    return st.spinner(text, show_time=True)


def lacking(abilities: "Abilities", view: str, instead: str = "") -> bool:
    """Whether the model lacks what a page is about to show; then a sentence says so, and what there is instead."""
    if view not in abilities.lacks:
        return False
    why = shown(abilities.lacks[view])  # type: ignore[index]
    st.info(with_code(in_a_row((why[0].upper() + why[1:], instead))), icon=":material/info:")
    return True


_PRESENTED: Final = Path(__file__).with_name("present.css").read_text(encoding="utf-8")


def page_style() -> None:
    """Send the style sheet of all pages; where a server of ours runs, the document has it already."""
    rules = [opening_page.colours(), scripts.styles("ui/page_style.css")]
    if present.is_on():
        rules.append(_PRESENTED)
    st.html(f"<style>{chr(10).join(rules)}</style>")
