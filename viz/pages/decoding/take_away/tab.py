"""What a person can take along of the decoding: tables, trees, arrays, a link."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models, trace_files
from viz.pages.decoding import translations
from viz.pages.decoding.beam import data as beam_data
from viz.pages.decoding.take_away import trees
from viz.selection import state
from viz.selection.selection import Selection
from viz.text.messages import _, plural
from viz.text.sites import file_name
from viz.ui import downloads, frame, long_work, trace_tables
from viz.ui.downloads import Offer, show_offer

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Every kind of thing to take along."""
    selection = state.current()
    of_branch = f"branch{selection.decoding.branch}" if selection.decoding.branch else ""
    st.subheader(_("The translation shown"), anchor=False)
    show_offer(
        Offer(
            _("Steps and candidates"),
            _("CSV: each step’s token, its probability, entropy and 20 candidates"),
            partial(trace_tables.steps, trace),
            f"{file_name('decoding', of_branch, sentence=trace.text)}.csv",
            "text/csv",
            620 * len(trace.steps),
        )
    )
    show_offer(
        Offer(
            _("NumPy arrays"),
            _("every weight, query, key and value of all attentions, tokens and steps; `numpy.load` reads it")
            if trace_files.has_weights(trace)
            else _("query, key and value of all attentions, tokens and steps; `numpy.load` reads it"),
            partial(trace_files.content, trace),
            f"{file_name('trace', of_branch, sentence=trace.text)}.npz",
            "application/octet-stream",
            trace_files.size(trace),
        )
    )
    _offer_trees(trace, selection)
    st.subheader(_("Pictures"), anchor=False)
    st.caption(
        _(
            "The camera in the corner of a chart saves it; “Save charts as” on the left says how. Pictures of a kind "
            "of their own, such as the tree of branches, have buttons, PNG, SVG and PDF."
        )
    )
    downloads.show_link(
        f"decode?{downloads.link(selection)}",
        _(
            "Behind the address of any Headlight that has this checkpoint, this opens here: the sentence, every "
            "branch, the one shown, the step and every other choice that was changed. Branches are computed anew there."
        ),
    )


def _offer_trees(trace: "Trace", selection: Selection) -> None:
    st.subheader(_("Trees"), anchor=False)
    made = translations.choices()
    written = partial(translations.written, *translations.source(), made)
    checkpoint, digest = models.identity(selection.model)
    show_offer(
        Offer(
            _("Branches"),
            plural(
                "JSON: the model’s own translation and {count} branch: what was done and where, text, tokens, "
                "log-probabilities",
                "JSON: the model’s own translation and {count} branches: what was done and where, text, tokens, "
                "log-probabilities",
                len(made),
            ),
            lambda: trees.branches(made, written(), text=trace.text, checkpoint=checkpoint, digest=digest),
            f"{file_name('branches', sentence=trace.text)}.json",
            "application/json",
            150 * (1 + len(made)) * len(trace.steps),
        )
    )
    width, penalty = beam_data.beam_settings(selection.decoding)
    show_offer(
        Offer(
            _("Beam search"),
            _(
                "JSON: every hypothesis that a beam of {width} with a length penalty of {penalty:g} compared, with its "
                "score and what became of it",
                width=width,
                penalty=penalty,
            ),
            partial(_beam, selection, checkpoint, digest),
            f"{file_name(f'beam{width}', sentence=trace.text)}.json",
            "application/json",
            2 * width * 320 * len(trace.steps),
        )
    )


def _beam(selection: Selection, checkpoint: str, digest: str) -> bytes:
    """When a button is pressed, there is no session to ask what is chosen: it is passed in."""
    text = selection.common.text
    tree = long_work.in_this_thread(beam_data.searching(models.writer(selection.model), text, selection.decoding))
    return trees.beam(tree, text, checkpoint=checkpoint, digest=digest)
