"""Say when times were measured while something else kept the machine busy."""

from typing import Final

import streamlit as st

from viz.text.messages import _

#: From here on, the run in the middle took so many times as long as the fastest.
UNSTEADY: Final = 1.5


def say_unsteady(ratio: float) -> None:
    """A warning where runs of the same work took times as different as this, the middle over the least."""
    if ratio > UNSTEADY:
        st.warning(
            _(
                "Something else kept this machine busy: of runs of the same work the middle one took {ratio:.1f} × "
                "as long as the fastest. The curves are rough; measure again when it is idle.",
                ratio=ratio,
            ),
            icon=":material/timer:",
        )
