"""Open a film that a person has made; what is no film gets a sentence, and the film before stays."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from model.errors import HeadlightError
from viz.pages.why_attention.through_training import data
from viz.selection import state
from viz.text.messages import _
from viz.ui import uploads
from viz.ui.controls import plain

_SLOT: Final = "training-film/own"
_FIELD: Final = "training-film-file"
COMMAND: Final = "python -m model train --preset full --data DIR --film FILE.npz"


@dataclass(frozen=True)
class _Loaded:
    """The film that is open, with its file's name, and what was wrong with a file that was chosen after it."""

    name: str = ""
    film: data.OpenFilm | None = None
    error: str = ""


def opened() -> data.OpenFilm | None:
    """The film that this session has opened, if it has."""
    loaded: _Loaded | None = st.session_state.get(_SLOT)
    return None if loaded is None else loaded.film


def show() -> None:
    """The field for a file, what is wrong with the one that was chosen, and how a film is made."""
    loaded: _Loaded | None = st.session_state.get(_SLOT)
    if loaded is not None and loaded.error:
        st.error(plain(_("{error} What was shown before stays.", error=loaded.error)), icon=":material/error:")
    with st.expander(_("A film of your own"), key="training-film-own", icon=":material/movie:"):
        label = _("A film of a training, .npz, at most {largest} MB", largest=uploads.most())
        uploads.field(label, key=_FIELD, on_change=_take)
        if loaded is not None and loaded.film is not None:
            st.caption(plain(_("Shown is {name}.", name=loaded.name)))
            st.button(_("Close {name}", name=plain(loaded.name)), icon=":material/close:", on_click=_forget)
        st.caption(
            _(
                "Any training makes one with `--film`; whatever the model, it takes 30 frames of six sentences. A "
                "training that was stopped goes on with its film."
            )
        )
        st.code(COMMAND, language="sh", wrap_lines=True)


def _take() -> None:
    file = st.session_state[_FIELD]
    if file is None:
        _forget()
        return
    try:
        st.session_state[_SLOT] = _Loaded(file.name, data.read(uploads.content(file), file.name))
        _open_anew()
    except HeadlightError as error:
        st.session_state[_SLOT] = replace(st.session_state.get(_SLOT, _Loaded()), error=error.message)


def _forget() -> None:
    st.session_state.pop(_SLOT, None)
    _open_anew()


def _open_anew() -> None:
    """What was chosen in another film says nothing of this one: it opens on what is most worth seeing."""
    flags = ("film_site", "film_sentence", "film_head", "film_step", "film_metric")
    state.change(**{f"{name}_chosen": False for name in flags})
