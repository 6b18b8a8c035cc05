"""Compare two sentences that differ in what a pronoun refers to, measure all heads over a set, and test a cause."""

import streamlit as st

from viz.access import models
from viz.access.given_files import FILES
from viz.selection import state
from viz.selection.choices import CoreferenceTab
from viz.text.messages import _
from viz.ui import downloads, frame

with frame.title(_("Compare")):
    frame.caption(
        "“… because it was too tired”, or “too wide”: one word decides what “it” refers to. See which heads follow "
        "that word, measure them, and test whether they are the cause."
    )
with frame.errors_shown():
    if (of_file := FILES.get(models.reads(state.current().model))) is not None:
        st.info(_(of_file.no_pairs), icon=":material/info:")
    else:
        # After the title, which waits for no library.
        from viz.pages.coreference import cause, python, side_by_side, two_models
        from viz.pages.coreference.measured import tab as measured

        tabs: list[frame.Tab[CoreferenceTab]] = [
            ("Side by side", side_by_side.show),
            ("Cause", cause.show),
            ("Measured", measured.show),
            ("Two models", two_models.show),
        ]
        frame.tabs("coreference_tab", tabs)
        downloads.python("coreference_tab", python.VIEWS)
