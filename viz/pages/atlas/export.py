"""The atlas as files and as Python. In files sites are named as in arrays."""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.pages.atlas import data, measuring, metric_texts, recordings, report
from viz.pages.atlas.heads.tab import ELSE
from viz.pages.atlas.metric_texts import maps_of
from viz.selection import state
from viz.text import written
from viz.text.messages import _
from viz.text.written import SITES, file_name
from viz.ui import controls, downloads
from viz.ui.snippets import Snippet, Views, alone, folder, line, of_model, source
from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def _of_atlas(atlas: "Atlas", *lines: str) -> Snippet:
    """Lines about `atlas`: the one that comes with the model, else measured again."""
    if recordings.is_heard():
        return _of_recordings(*lines)
    model = state.current().model
    loaded = st.session_state.get(measuring.SENTENCES) if state.current().atlas.corpus == "file" else None
    sinks = state.current().common.sinks
    if (
        loaded is None
        and sinks
        and data.find(data.reading(None, ()), model).path == models.folder(model) / data.SHIPPED
    ):
        opened = f"atlas = load_atlas({folder(model)} / {data.SHIPPED!r})"
        return alone({"analysis.atlas.file": "load_atlas"}, opened, *lines)
    read, package, corpora = "OWN_CORPUS", "headlight", "OWN_CORPUS, read_text"
    if loaded is not None:
        read, package, corpora = line("pathlib.Path({})", loaded.name), "headlight, pathlib", "read_text"
        if (origin := loaded.origin) is not None:
            read += f", columns={origin.columns}, sample={origin.sample}, seed={origin.seed}"
    imports = {
        "analysis.atlas.measure": "build_atlas",
        "analysis.coreference.case_files": "cases_for",
        "analysis.corpus": corpora,
        **({"analysis.data_files": "Columns"} if "Columns(" in read else {}),
    }
    built = f"atlas = build_atlas(reader, read_text({read}), cases=cases_for(reader){'' if sinks else ', sinks=False'})"
    return of_model(imports, built, *lines, package=package)


def _of_recordings(*lines: str) -> Snippet:
    """Lines about `atlas`, measured over the example or over a folder of recordings with their word times."""
    read, package = "example_recording", "headlight"
    made = "atlas, timing, refused = measure_recordings(reader, [example_recording()])"
    if any(recording.given_file for recording in recordings.given()):
        read, package = "recordings_in", "headlight, pathlib"
        made = "atlas, timing, refused = measure_recordings(reader, recordings_in(pathlib.Path('FOLDER')))"
    return of_model({"analysis.timing.recordings": f"measure_recordings, {read}"}, made, *lines, package=package)


def _heads(atlas: "Atlas") -> Snippet:
    """The chosen metric of every head, and how far heads are apart."""
    choices, site = state.current().atlas, state.current().common.site
    read_off = metric_texts.read_off(atlas)
    known = {each.key for each in maps_of(atlas, site, read_off)}
    name = metric_texts.PREFIXES[read_off] + (choices.corpus_metric if choices.corpus_metric in known else ELSE)
    both = "values, distances = atlas.metrics[{0}][{1}], atlas.divergences[{1}] ** 0.5  # [layer, head]; of all pairs"
    return _of_atlas(atlas, line(both, name, SITES.index(site)))


def _scatter(atlas: "Atlas") -> Snippet:
    """Both metrics of every head."""
    choices, prefix = state.current().atlas, metric_texts.PREFIXES[metric_texts.read_off(atlas)]
    names = prefix + choices.scatter_x, prefix + choices.scatter_y
    return _of_atlas(atlas, line("across, up = atlas.metrics[{}], atlas.metrics[{}]  # [site, layer, head]", *names))


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
        0,
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
