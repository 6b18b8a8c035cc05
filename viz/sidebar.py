"""What every page has on its left: the sentence, examples, the checkpoint, the device. Knows nothing of the pages."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from viz import choices, controls, state
from viz.examples import EXAMPLES, Example

DEVICE_LABELS: Final = {"auto": "Automatic", "cpu": "CPU", "cuda": "GPU"}


def sidebar(checkpoints: Sequence[str]) -> None:
    """The sentence, good examples, the checkpoint and the device; the same on every page."""
    with st.sidebar:
        st.header("Headlight", anchor=False)
        st.caption("Every attention head of a Transformer, while it reads a sentence and writes its translation.")
        st.text_area(
            "English sentence",
            key=state.bind("text"),
            height=120,
            placeholder="Type an English sentence",
            help="Ctrl + Enter, or a click elsewhere, translates.",
            on_change=state.take,
            args=("text",),
        )
        with st.container(horizontal=True):
            st.button("Translate", type="primary", icon=":material/translate:")
            st.menu_button("Examples", EXAMPLES, key="examples", format_func=_example_label, on_click=_take_example)
        st.selectbox(
            "Checkpoint",
            checkpoints,
            key=state.bind("checkpoint", state.current().checkpoint or next(iter(checkpoints), None)),
            placeholder="None found",
            disabled=not checkpoints,
            on_change=state.take,
            args=("checkpoint",),
        )
        st.segmented_control(
            "Device",
            choices.DEVICES,
            key=state.bind("device"),
            format_func=DEVICE_LABELS.__getitem__,
            required=True,
            on_change=state.take,
            args=("device",),
        )
        st.segmented_control(
            "Save pictures as",
            choices.PICTURES,
            key=state.bind("pictures"),
            required=True,
            help="What the camera in the corner of a chart saves: pixels, or shapes that stay sharp at any size.",
            on_change=state.take,
            args=("pictures",),
        )


def _example_label(example: Example) -> str:
    return controls.plain(example.text)


def _take_example() -> None:
    example = st.session_state["examples"]
    state.take_example(example.text, example.twin)
