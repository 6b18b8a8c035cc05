"""Offer files and links to take along in a page's one menu, and take files that people give."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.errors import DataError, HeadlightError
from viz.access import models
from viz.access.given_files import FILES, Given
from viz.selection import state, url
from viz.selection.choices import PICTURE_FORMATS
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Section, Selection
from viz.server import limits
from viz.text.messages import _, language, said, shown, speaking
from viz.ui import controls, terms
from viz.ui.snippets import Views

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_MIMES: Final = {".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".vtt": "text/vtt"}
_TOO_LONG: Final = said("The sentence is too long for the URL and is not part of it: send it separately.")


class Offer(NamedTuple):
    """A file: what the button says, what is in it, how it is made, and its name."""

    label: str
    inside: str
    make: Callable[[], bytes]
    name: str


def show_offers(offers: Iterable[Offer]) -> None:
    """The buttons of several files, next to one another."""
    with st.container(horizontal=True, gap="small"):
        for offer in offers:
            show_offer(*offer)


def show_offer(label: str, inside: str, make: Callable[[], bytes], name: str) -> None:
    """The button of an `Offer`; nothing is made before it is pressed."""
    st.download_button(
        shown(label),
        # Who makes it, once the button is pressed, is no page run.
        partial(_made_in, language(), make),
        name,
        _MIMES.get(PurePath(name).suffix, "application/octet-stream"),
        key=f"take-{name}",
        icon=":material/download:",
        help=inside,
        on_click="ignore",
        wrap=True,
    )


def _made_in(code: str, make: Callable[[], bytes]) -> bytes:
    """A file in the language of the page that offers it."""
    with speaking(code):
        return make()


def link(selection: Selection, page: Section) -> str:
    """What a page shows of a selection as the query of its address."""
    always = link_needs(selection)[0]
    return urlencode(always | url.to_params(selection.changed(checkpoint=always["checkpoint"], story=0), page))


def link_needs(selection: Selection) -> tuple[dict[str, str], str]:
    """The parameters that a link has even with their usual values, for others may be usual elsewhere; what it lacks."""
    always = {"checkpoint": models.name_of(selection.model)}
    kind = FILES.get(models.reads(selection.model))
    if kind is not None and Given.read(selection.model.given_file).digest not in ("", *kind.examples):
        return always, kind.not_in_link
    if len(selection.common.text) > MAX_TEXT_IN_URL:
        return always, _TOO_LONG
    return always | {"text": selection.common.text}, ""


#: Megabytes that a file may have where its field says nothing else.
MEGABYTES: Final = 5


def most(megabytes: int = MEGABYTES, shared: int = limits.MEGABYTES) -> int:
    """Megabytes that a file may have in a field that usually takes so many, and `shared` on a shared server: no more
    than the server lets through.
    """
    server: int = st.get_option("server.maxUploadSize")
    return min(limits.rules().most_megabytes(megabytes, shared), server)


def field(
    label: str,
    *,
    key: str,
    megabytes: int = MEGABYTES,
    shared: int = limits.MEGABYTES,
    help_text: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> "UploadedFile | None":
    """A field for a file of at most so many megabytes, as `most`, and the file that is in it, if any."""
    # The name of a type that is refused would be Streamlit's to tell; ours says what was expected.
    return st.file_uploader(
        label, key=key, help=help_text, max_upload_size=most(megabytes, shared), on_change=on_change
    )


def several(
    label: str, *, key: str, megabytes: int, shared: int, help_text: str, on_change: Callable[[], None]
) -> None:
    """A field for several files, each as `field` takes one; they are a list in the session, under its key."""
    size = most(megabytes, shared)
    st.file_uploader(
        label, key=key, help=help_text, max_upload_size=size, on_change=on_change, accept_multiple_files=True
    )


def content(file: "UploadedFile", megabytes: int = MEGABYTES, shared: int = limits.MEGABYTES) -> bytes:
    """What is in a file, as large as its field may take. The field's own limit holds in the browser only.

    Raises a DataError if it is larger.
    """
    allowed = most(megabytes, shared)
    if file.size > allowed * 1024**2:
        message = "{name} is {size:,.1f} MB; the limit is {most} MB. Choose a smaller file."
        raise DataError(message, name=file.name, size=file.size / 1024**2, most=allowed)
    return file.getvalue()


_PAPER_LABELS: Final = {"shown": said("Page"), "white": said("White"), "transparent": said("Transparent")}
#: Pixels of what is in the menu, where the screen has room.
WIDTH: Final = 440
#: In the session: the menu of the run.
_MENU: Final = "export/menu"


def menu() -> None:
    """Show the menu, in the head of a page."""
    opened = st.popover(_("Export"), icon=":material/download:", key="export", on_change="rerun")
    st.session_state[_MENU] = opened
    if not opened.open:
        return
    with opened.container(width=WIDTH):
        help_text = _(
            "PNG stores pixels, at twice the screen's resolution. SVG and PDF store shapes that stay sharp at any "
            "size; PDF is made in the browser's print window. A heatmap of more than 65,536 cells is stored as pixels "
            "in all three."
        )
        labels = {name: name for name in PICTURE_FORMATS}
        controls.segmented("picture_format", _("Save pictures as"), labels, help_text=help_text)
        help_text = _(
            "On a white or transparent background text is black, for use in a paper. bertviz saves on its own "
            "background."
        )
        controls.segmented("picture_paper", _("Background of saved pictures"), _PAPER_LABELS, help_text=help_text)
        terms.caption(_("The arrow next to a picture and the camera on a chart save it in this form."))


def files(offer: Callable[[], None]) -> None:
    """Show what a page offers as files, while the menu is open. `offer`: draws the buttons; called only then."""
    opened: DeltaGenerator | None = st.session_state.get(_MENU)
    if opened is not None and getattr(opened, "open", False):
        with opened.container(width=WIDTH):
            offer()


#: Of a tab that has no entry in its page's `VIEWS`.
NO_PYTHON: Final = said("This view has no Python code.")


def python(field: str, views: Views, *arguments: object) -> None:
    """Show the Python that gives the numbers of the open tab, while the menu is open; to be called after the tabs."""
    view = views.get(state.value(field, str), NO_PYTHON)
    files(lambda: _show_python({_("**Python**"): view}, *arguments))


def python_of_sections(views: Views, *arguments: object) -> None:
    """The same for all sections of a page, each by its name."""
    files(
        lambda: _show_python(
            {_("**Python: {view}**", view=_(label)): view for label, view in views.items()}, *arguments
        )
    )


def _show_python(views: Views, *arguments: object) -> None:
    has_lines = False
    for title, view in views.items():
        # The view itself says what is wrong.
        with suppress(HeadlightError):
            snippet = view if isinstance(view, str) else view(*arguments)
            if not snippet:
                continue
            st.markdown(title)
            if isinstance(snippet, str):
                terms.caption(shown(snippet))
            else:
                st.code("\n".join(snippet), language="python", wrap_lines=True)
                has_lines = True
    if has_lines:
        message = (
            "These lines give the numbers of this view if the package headlight is installed; the README says how."
        )
        terms.caption(_(message))
