"""The field for a file that a model reads in place of a text; of a sound also a recorder, a player and its part."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st

from model.errors import HeadlightError
from viz.access.given_files import LONGEST_PART, FileKind, Given, given, keep, whole
from viz.selection import state
from viz.server.widgets import sent
from viz.text.messages import _
from viz.theme import HEAD_COLOURS
from viz.ui import controls, downloads, terms

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_CHOSEN, _EXAMPLE, _RECORDED = "given-file", "given-example", "recorded-sound"
_START, _SECONDS = "part-start", "part-seconds"
#: In the session: which of the two fields was used last, or that a file was chosen elsewhere after that.
_LAST: Final = "given-file/last"
_ELSEWHERE: Final = "elsewhere"
#: Bars of the picture of a sound, and the height of its box.
_BARS, _HEIGHT = 240, 40


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
    file = (_recorded(chosen) if kind.is_heard else None) or chosen
    if not kind.is_heard and st.session_state.get(_LAST) == _ELSEWHERE:
        # Another field is of sounds.
        st.session_state[_LAST] = ""
    if st.session_state.get(_LAST) != _ELSEWHERE:
        taken = Given()
        if file is None:
            terms.caption(_(kind.without))
            taken = _example(kind)
        _take(kind, file, sizes, taken)
    if kind.is_heard:
        # The page says it where a sound is not kept any more.
        with suppress(HeadlightError):
            _hear(kind)


def choose(given_file: str) -> None:
    """Choose a file that was given in another field, in place of what is in this one."""
    st.session_state[_LAST] = _ELSEWHERE if given_file else ""
    state.choose(given_file=given_file)


def _recorded(chosen: "UploadedFile | None") -> "UploadedFile | None":
    """What was recorded, unless a file was chosen after that."""
    help_text = _("A browser offers its microphone only to pages under https:// and on localhost.")
    recorded = st.audio_input(_("Or record one"), key=_RECORDED, help=help_text, on_change=_used(_RECORDED))
    return None if chosen is not None and st.session_state.get(_LAST) != _RECORDED else recorded


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


def _take(kind: FileKind, file: "UploadedFile | None", sizes: tuple[int, int], taken: Given) -> None:
    """Choose a file, or without one `taken`; of a sound that is too long to be read at once, its beginning."""
    try:
        if file is not None:
            taken = Given(keep(kind, downloads.content(file, *sizes), file.name))
            if kind.is_heard and whole(kind, taken.digest)[1].seconds > LONGEST_PART:
                taken = taken._replace(tenths=10 * LONGEST_PART)
    except HeadlightError as error:
        taken = Given()
        st.error(controls.with_code(_(kind.instead, error=error)), icon=":material/error:")
    if Given.read(state.current().model.given_file).digest != taken.digest:
        state.choose(given_file=taken.written)


def _hear(kind: FileKind) -> None:
    """A player of what the model reads, below the part of a longer sound that this is."""
    chosen = Given.read(state.current().model.given_file)
    if chosen.tenths:
        sound = whole(kind, chosen.digest)[1]
        _draw(sound, chosen)
        _choose_part(sound.seconds, chosen)
    st.audio(given(kind, chosen.written)[1].wav(), format="audio/wav")


def _choose_part(seconds: float, chosen: Given) -> None:
    """Where the part begins, and how long it is: at least a second."""
    last = int(10 * seconds) - 10
    st.session_state[_START], st.session_state[_SECONDS] = chosen.start / 10, chosen.tenths / 10
    begin, length = _("The model reads from this second on"), _("Seconds that the model reads")
    take = partial(_take_part, last, chosen)
    st.slider(begin, 0.0, last / 10, step=0.1, format="%.1f", key=_START, on_change=take)
    st.number_input(length, 1.0, float(LONGEST_PART), step=1.0, format="%.1f", key=_SECONDS, on_change=take)


def _take_part(last: int, chosen: Given) -> None:
    start, seconds = sent(_START), sent(_SECONDS)
    # A forged message can hold any number, or none.
    if (
        isinstance(start, float)
        and 0 <= 10 * start <= last
        and isinstance(seconds, float)
        and 1 <= seconds <= LONGEST_PART
    ):
        state.choose(given_file=Given(chosen.digest, round(10 * start), round(10 * seconds)).written)


def _draw(sound: Any, chosen: Given) -> None:
    """The waveform of a sound, and where the part of it lies that the model reads."""
    loud = [max(block.max(), -block.min()) for block in np.array_split(sound.samples, _BARS)]
    bars = "".join(
        f"M{x + 0.5} {_HEIGHT / 2 * (1 - height):.1f}V{_HEIGHT / 2 * (1 + height):.1f}" for x, height in enumerate(loud)
    )
    start, end = chosen.start / 10, min((chosen.start + chosen.tenths) / 10, sound.seconds)
    left, width = (_BARS * seconds / sound.seconds for seconds in (start, end - start))
    # In colours that show on a light page and on a dark one: a picture does not know which it is on.
    st.image(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BARS}" height="{_HEIGHT}">'
        f'<rect x="{left:.1f}" width="{max(width, 1):.1f}" height="{_HEIGHT}" fill="{HEAD_COLOURS[0]}" opacity="0.4"/>'
        f'<path d="{bars}" stroke="{HEAD_COLOURS[7]}" stroke-width="0.8"/></svg>',
        width="stretch",
        alt=_(
            "The sound; the model reads {start:.1f} s to {end:.1f} s of {all:.1f} s",
            start=start,
            end=end,
            all=sound.seconds,
        ),
    )
