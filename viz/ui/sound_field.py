"""What the field of a sound has besides: a recorder, a player, and the part of a longer sound that is read."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from viz.access.given_files import LONGEST_PART, FileKind, Given, given, whole
from viz.selection import state
from viz.server.widgets import sent
from viz.text.messages import _
from viz.theme import HEAD_COLOURS

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_START, _SECONDS = "part-start", "part-seconds"
#: Bars of the picture of a sound, and the height of its box.
_BARS, _HEIGHT = 240, 40


def record(on_change: Callable[[], None], key: str) -> "UploadedFile | None":
    """See `OwnField`."""
    help_text = _("A browser offers its microphone only to pages under https:// and on localhost.")
    recorded: UploadedFile | None = st.audio_input(_("Or record one"), key=key, help=help_text, on_change=on_change)
    return recorded


def part(content: Any) -> int:
    """See `OwnField`: the beginning of a sound that is too long to be read at once."""
    return 10 * LONGEST_PART if content.seconds > LONGEST_PART else 0


def show_chosen(kind: FileKind) -> None:
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
