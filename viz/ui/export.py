"""The one menu of a page for all that can be saved: how pictures are, and the files that the page offers."""

from collections.abc import Callable
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.errors import HeadlightError
from viz.selection import state
from viz.selection.choices import PICTURE_FORMATS
from viz.text.messages import _, said, shown
from viz.ui import controls
from viz.ui.snippets import Snippet, Views

_PAPER_LABELS: Final = {"shown": said("Page"), "white": said("White"), "transparent": said("Transparent")}
#: Pixels of what is in the menu, where the screen has room.
WIDTH: Final = 440
#: In the session: the menu of the run.
_MENU: Final = "export/menu"


def menu() -> None:
    """Show the menu, in the head of a page."""
    opened = st.popover(_("Export"), icon=":material/download:", key="export", on_change="rerun")
    st.session_state[_MENU] = opened
    with opened.container(width=WIDTH):
        help_text = _(
            "PNG is pixels, twice the screen's. SVG and PDF are shapes that stay sharp at any size; PDF is made in the "
            "browser's print window. A heatmap of more than 65,536 cells stays pixels in them."
        )
        labels = {name: name for name in PICTURE_FORMATS}
        controls.segmented("picture_format", _("Save pictures as"), labels, help_text=help_text)
        help_text = _("White and transparent have black letters, for a paper. bertviz saves on its own background.")
        controls.segmented("picture_paper", _("Background of saved pictures"), _PAPER_LABELS, help_text=help_text)
        st.caption(_("The arrow at a picture and the camera at a chart save it like this."))


def files(offer: Callable[[], None]) -> None:
    """Show what a page offers as files, while the menu is open. `offer`: draws the buttons; called only then."""
    opened: DeltaGenerator | None = st.session_state.get(_MENU)
    if opened is not None and getattr(opened, "open", False):
        with opened.container(width=WIDTH):
            offer()


def python(field: str, views: Views, *arguments: object) -> None:
    """Show the Python that gives the numbers of the open tab, while the menu is open; to be called after the tabs."""

    def offer() -> None:
        view = views[state.value(field, str)]
        try:
            snippet: Snippet = view if isinstance(view, str) else view(*arguments)
        except HeadlightError:
            # The view says it.
            return
        if not snippet:
            return
        st.markdown(_("**Python**"))
        if isinstance(snippet, str):
            st.caption(shown(snippet))
            return
        st.code("\n".join(snippet), language="python", wrap_lines=True)
        st.caption(
            _("These lines give the numbers of this view where the package headlight is installed, as the README says.")
        )

    files(offer)
