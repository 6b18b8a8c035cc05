"""The field for a file that a model reads in place of a text."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

import streamlit as st

from model.errors import HeadlightError
from viz.access.given_files import FileKind, Given, keep, whole
from viz.selection import state
from viz.server.widgets import sent
from viz.text.messages import _
from viz.ui import controls, downloads, terms

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_CHOSEN, _EXAMPLE, _RECORDED = "given-file", "given-example", "recorded-file"
#: In the session: which of the two fields was used last, or that a file was chosen elsewhere after that.
_LAST: Final = "given-file/last"
_ELSEWHERE: Final = "elsewhere"


class OwnField(Protocol):
    """What the field of one kind has besides: a module that `FileKind.own_field` names."""

    def record(self, on_change: Callable[[], None], key: str) -> "UploadedFile | None":
        """A second field, for a file that is made here."""

    def part(self, content: Any) -> int:
        """How much of a new file is read, as `Given.tenths`; 0 for all of it."""

    def show_chosen(self, kind: FileKind) -> None:
        """Below: what the model reads. Raises a HeadlightError if it is not kept any more."""


def field(kind: FileKind) -> None:
    """The field, what is wrong with what is in it, and what of it the model reads."""
    sizes = kind.megabytes, kind.shared_megabytes
    chosen = downloads.field(
        _(kind.label),
        key=_CHOSEN,
        megabytes=sizes[0],
        shared=sizes[1],
        help_text=_(kind.help_text, most=downloads.most(*sizes)),
        on_change=_used(_CHOSEN),
    )
    own: OwnField | None = import_module(kind.own_field, __package__) if kind.own_field else None
    file = (None if own is None else _other(own, chosen)) or chosen
    if own is None and st.session_state.get(_LAST) == _ELSEWHERE:
        # The file chosen elsewhere was of another kind.
        st.session_state[_LAST] = ""
    if st.session_state.get(_LAST) != _ELSEWHERE:
        taken = Given()
        if file is None:
            terms.caption(_(kind.without))
            taken = _example(kind)
        _take(kind, own, file, sizes, taken)
    if own is not None:
        # The page says it where a file is not kept any more.
        with suppress(HeadlightError):
            own.show_chosen(kind)


def choose(given_file: str) -> None:
    """Choose a file that was given in another field, in place of what is in this one."""
    st.session_state[_LAST] = _ELSEWHERE if given_file else ""
    state.choose(given_file=given_file)


def _other(own: OwnField, chosen: "UploadedFile | None") -> "UploadedFile | None":
    """What was made here, unless a file was chosen after that."""
    made = own.record(_used(_RECORDED), _RECORDED)
    return None if chosen is not None and st.session_state.get(_LAST) != _RECORDED else made


def _used(key: str) -> Callable[[], None]:
    return partial(st.session_state.__setitem__, _LAST, key)


def _example(kind: FileKind) -> Given:
    """The example that a person chooses, where there are several."""
    first, *others = kind.examples
    if not others:
        return Given()
    labels = {name: _(label) for name, label in kind.examples.items()}
    chosen = Given.read(state.current().model.given_file).digest
    st.session_state[_EXAMPLE] = chosen if chosen in others else first

    def take() -> None:
        if (name := sent(_EXAMPLE)) in kind.examples:
            state.choose(given_file="" if name == first else name)

    st.selectbox(_("Example"), [first, *others], format_func=labels.__getitem__, key=_EXAMPLE, on_change=take)
    return Given(chosen if chosen in others else "")


def _take(
    kind: FileKind, own: OwnField | None, file: "UploadedFile | None", sizes: tuple[int, int], taken: Given
) -> None:
    """Choose a file, or without one `taken`; of one that is too long to be read at once, its beginning."""
    try:
        if file is not None:
            taken = Given(keep(kind, downloads.content(file, *sizes), file.name))
            if own is not None:
                taken = taken._replace(tenths=own.part(whole(kind, taken.digest)[1]))
    except HeadlightError as error:
        taken = Given()
        st.error(controls.with_code(_(kind.instead, error=error)), icon=":material/error:")
    if Given.read(state.current().model.given_file).digest != taken.digest:
        state.choose(given_file=taken.written)
