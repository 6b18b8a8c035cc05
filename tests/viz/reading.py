"""What the chosen model did with a text, as the pages ask for it."""

from model import BeamTree, Trace
from viz.access import models, traces
from viz.pages.decoding.data import searches
from viz.selection.selection import Selection
from viz.ui import long_work


def traced(text: str, selection: Selection) -> Trace:
    """The trace of a text by the model of a selection, with the selection's picture for a model of pictures."""
    return traces.trace(models.reader(selection.model), text, selection.common.picture_digest)


def tree_of(text: str, selection: Selection) -> BeamTree:
    """The tree of the beam search of a selection."""
    return long_work.in_this_thread(searches.searching(models.writer(selection.model), text, selection.decoding))
