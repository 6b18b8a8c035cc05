"""What every head does over a whole corpus: metrics, strongest sentences, two metrics against each other."""

from functools import partial
from pathlib import Path

import streamlit as st

from viz.access import models
from viz.access.given_files import FILES
from viz.selection import state
from viz.text.messages import _
from viz.text.metrics import OF_A_CORPUS
from viz.ui import downloads, formulas, frame

with frame.title(_("Atlas")):
    frame.caption(
        "What every head does over many sentences (the sentence on the left is not used), or over recordings: how "
        "sharply and how far it attends, to which tokens, and where it is strongest."
    )
with frame.errors_shown():
    choice = state.current().model
    of_file = FILES.get(models.reads(choice))
    if of_file is not None and not (of_file.is_heard and models.kind(choice) == "encoder-decoder"):
        st.info(_(of_file.no_atlas), icon=":material/info:")
    else:
        # After the title, which waits for no library.
        from viz.pages.atlas import corpora, export, tabs

        pictures = st.container()
        measured = corpora.chosen().measured(pictures)
        if measured is not None:
            downloads.files(partial(export.files, measured))
            with pictures:
                tabs.show(measured)
            downloads.python("atlas_tab", export.VIEWS, measured)
with st.expander(_("Formulas and sources"), key="atlas-formulas"):
    formulas.show_metrics(OF_A_CORPUS)
    formulas.show(Path(__file__).with_name("formulas.md"))
