"""The Python that gives what the atlas shows."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.atlas import data, metric_texts, tabs
from viz.pages.atlas.metric_texts import maps_of
from viz.pages.atlas.tabs import ELSE
from viz.selection import state
from viz.text.written import SITES
from viz.ui.snippets import Snippet, Views, alone, folder, line, of_model

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def _of_atlas(atlas: "Atlas", *lines: str) -> Snippet:
    """Lines about `atlas`: the one that comes with the model, else measured again."""
    model = state.current().model
    loaded = st.session_state.get(tabs.SENTENCES) if state.current().atlas.corpus == "file" else None
    if loaded is None and data.find(data.reading(None, ()), model).path == models.folder(model) / data.SHIPPED:
        opened = f"atlas = load_atlas({folder(model)} / {data.SHIPPED!r})"
        return alone({"analysis.atlas.file": "load_atlas"}, opened, *lines)
    read, package, corpora = "OWN_CORPUS", "headlight", "OWN_CORPUS, read_text"
    if loaded is not None:
        read, package, corpora = line("pathlib.Path({})", loaded.name), "headlight, pathlib", "read_text"
    imports = {
        "analysis.atlas.measure": "build_atlas",
        "analysis.coreference.case_files": "cases_for",
        "analysis.corpus": corpora,
    }
    built = f"atlas = build_atlas(reader, read_text({read}), cases=cases_for(reader))"
    return of_model(imports, built, *lines, package=package)


def _maps(atlas: "Atlas") -> Snippet:
    """The chosen metric of every head."""
    choices, site = state.current().atlas, state.current().common.site
    has_norms = any(name.startswith(metric_texts.PREFIXES["norms"]) for name in atlas.metrics)
    read_off = choices.read_off if has_norms else "weights"
    known = {each.key for each in maps_of(atlas, site, read_off)}
    name = metric_texts.PREFIXES[read_off] + (choices.corpus_metric if choices.corpus_metric in known else ELSE)
    return _of_atlas(atlas, line("values = atlas.metrics[{}][{}]  # [layer, head]", name, SITES.index(site)))


def _map_of_heads(atlas: "Atlas") -> Snippet:
    """Where the heads are on the map, and how far they are apart."""
    index = SITES.index(state.current().common.site)
    template = "positions, distances = atlas.map_positions[{0}], atlas.divergences[{0}] ** 0.5"
    return _of_atlas(atlas, line(template, index))


def _table(atlas: "Atlas") -> Snippet:
    """Every metric of every head."""
    index = SITES.index(state.current().common.site)
    return _of_atlas(atlas, line("table = {{name: values[{}] for name, values in atlas.metrics.items()}}", index))


VIEWS: Final[Views] = {"Maps": _maps, "Map of heads": _map_of_heads, "Table": _table}
