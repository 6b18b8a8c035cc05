"""A page that waits for slow work; run by a browser test."""

import time

import streamlit as st

from viz.server.background_jobs import Progress, Task
from viz.ui import frame, long_work


def slow(progress: Progress) -> str:
    for _ in range(600):
        time.sleep(0.05)
        progress(1)
    return "done"


st.button("Elsewhere")
st.write("above")
with frame.errors_shown():
    st.write(long_work.awaited(Task("awaited", 600, "units", slow), key="work"))
