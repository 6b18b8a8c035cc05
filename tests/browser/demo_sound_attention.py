"""An invented head over an invented sound, alone on a page: two seconds, of which three are read."""

import numpy as np
import streamlit as st

from viz.pages.attention.opened_head.sound_panel import SoundData, sound_attention
from viz.pages.attention.opened_head.spectrogram import log_mel
from viz.pictures.focus import FocusAxis

RATE = 8_000
#: Two rows of the first text are special, so rows stand for the tokens from 3 on.
ROWS = ("▁<b>it</b> → ▁was", "▁was → ▁too", "▁too → ▁tired", "▁tired → .", ". → </s>")


def invented_sound() -> np.ndarray:
    """Three tones that rise, with pauses."""
    time = np.arange(2 * RATE) / RATE
    loud = np.abs(np.sin(1.5 * np.pi * time))
    return np.asarray(9_000 * loud * np.sin(2 * np.pi * (300 + 400 * time) * time), dtype=np.int16)


def invented_weights() -> np.ndarray:
    """Row r spends 0.6 evenly on the ten frames from 8 + 20 · r on, 0.1 on the other ninety, the rest after the sound;
    the last row spends all there.
    """
    weights = np.full((len(ROWS), 100), 0.1 / 90, np.float32)
    for row in range(len(ROWS) - 1):
        weights[row, 8 + 20 * row : 18 + 20 * row] = 0.06
    weights[-1] = 0
    return weights


def keep(row: int) -> None:
    st.session_state.kept = None if row == st.session_state.kept else row


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    kept = st.session_state.setdefault("kept", None)
    samples, weights = invented_sound(), invented_weights()
    data = SoundData(
        samples=samples,
        spectrogram=log_mel(samples, RATE),
        weights=weights,
        after=1 - weights.sum(1),
        rate=RATE,
        seconds_per_frame=0.02,
        is_filled=True,
        row_tokens=ROWS,
        rows_write=True,
        rows=FocusAxis("target", ahead=3),
        number="weight",
        title="L4 H3",
        kept=kept,
    )
    sound_attention(data, on_keep=keep, key="sound")
    st.text(f"kept: {kept}")
