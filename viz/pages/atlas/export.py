"""The atlas as files and as Python. In files sites are named as in arrays."""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.pages.atlas import corpora, data, metric_texts, report
from viz.pages.atlas.heads.tab import ELSE
from viz.pages.atlas.metric_texts import maps_of
from viz.selection import state
from viz.text import written
from viz.text.messages import _
from viz.text.written import SITES, file_name
from viz.ui import controls, downloads
from viz.ui.snippets import Snippet, Views, line, source
from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def _heads(atlas: "Atlas") -> Snippet:
    """The chosen metric of every head, and how far heads are apart."""
    choices, site = state.current().atlas, state.current().common.site
    read_off = metric_texts.read_off(atlas)
    known = {each.key for each in maps_of(atlas, site, read_off)}
    name = metric_texts.PREFIXES[read_off] + (choices.corpus_metric if choices.corpus_metric in known else ELSE)
    both = "values, distances = atlas.metrics[{0}][{1}], atlas.divergences[{1}] ** 0.5  # [layer, head]; of all pairs"
    return corpora.chosen().python(line(both, name, SITES.index(site)))


def _scatter(atlas: "Atlas") -> Snippet:
    """Both metrics of every head."""
    choices, prefix = state.current().atlas, metric_texts.PREFIXES[metric_texts.read_off(atlas)]
    names = prefix + choices.scatter_x, prefix + choices.scatter_y
    return corpora.chosen().python(
        line("across, up = atlas.metrics[{}], atlas.metrics[{}]  # [site, layer, head]", *names)
    )


VIEWS: Final[Views] = {"Heads": _heads, "Scatter": _scatter}


def files(atlas: "Atlas") -> None:
    """The tables of the page as files."""
    # A file is made in a thread without a session: what is chosen is asked here.
    site, model = state.current().common.site, source(state.current().model)
    heads = data.shape_of(atlas, site)[1]
    controls.table_button(_("All heads and metrics (CSV)"), partial(data.table, atlas), file_name("atlas"))
    downloads.show_offer(
        _("Report (HTML)"),
        _("What each head does, with intervals, on one page that opens offline."),
        lambda: report.report(atlas, model).encode(),
        f"{file_name('atlas')}.html",
    )
    controls.table_button(
        _("All distances between heads of this attention (CSV)"),
        lambda: distances(data.distances(atlas, site), heads),
        file_name("atlas", "distances", site),
    )


def distances(values: Float[np.ndarray, "layer_head layer_head"], heads: int) -> bytes:
    """How far heads of a site are from one another: a row and a column for each, named as on pages."""
    names = [written.head_label(*divmod(index, heads)) for index in range(len(values))]
    return table(("head of layer", *names), ((name, *row) for name, row in zip(names, digits(values), strict=True)))
