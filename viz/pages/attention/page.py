"""Every head of one attention, and other views of it."""

from functools import partial

import streamlit as st

from viz.access import models
from viz.pages.attention import export as own_export
from viz.pages.attention.all_heads import tab as all_heads
from viz.pages.attention.why import tab as why
from viz.selection import state
from viz.selection.choices import ALL_HEADS, AttentionTab
from viz.text.messages import _
from viz.ui import downloads, finding, frame, sentence

head = frame.title(
    _("Attention"),
    _(
        "What every head of every layer attends to while the model reads the sentence and writes its translation. "
        "Each tile is one head: a row for each query token, a column for each key token; the lighter, the more "
        "weight. Click a tile to open its head, or two words of the sentence to find the heads that link them. Any "
        "weight can be traced back to the numbers it is computed from."
    ),
)
if state.current().attention.from_atlas:
    st.page_link("viz/pages/atlas/page.py", label=_("Back to the atlas"), icon=":material/arrow_back:")
with frame.errors_shown():
    trace = sentence.read(state.current().common.text)
    finding.open_on_finding(trace)
    if state.current().attention.attention_tab == ALL_HEADS:
        all_heads.show_words(trace, head)
    else:
        sentence.show(trace, head)
    tabs: list[frame.Tab[AttentionTab]] = [("All heads", all_heads.show), ("Why", why.show)]
    downloads.files(partial(own_export.files, trace))
    frame.tabs("attention_tab", tabs, trace)
    downloads.python("attention_tab", own_export.VIEWS, trace)
    frame.lacking(models.abilities(state.current().model), "self-attention")
