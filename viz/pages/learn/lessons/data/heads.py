"""Views of whole heads: one opened, all of an attention, and what each was measured to do."""

from typing import TYPE_CHECKING

import numpy as np

from viz.access import head_jobs
from viz.components.matrix_picture.component import ColourScale, MatrixData
from viz.core.file_names import file_name, head_name
from viz.core.html import Column
from viz.core.sites import NAMES, SITES, head_label, label
from viz.pages.learn.lessons.pictures import FullPage, Heads, Rows, View
from viz.ui.head_jobs import NAMES as JOBS

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped


def opened(shipped: "Shipped", *, text: str, head: str) -> View:
    """One head as a heatmap."""
    trace = shipped.trace(text)
    site, layer, number = shipped.head(trace, head)
    weights = trace.weights(site, layer, [number])[0].numpy()
    rows, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    reach = min(weights.shape)
    found: dict[str, float | str] = {
        "head": head_label(layer, number),
        "attention": NAMES[site].phrase,
        "rows": len(rows),
        "keys": len(keys),
        "previous": float(weights[np.arange(1, reach), np.arange(reach - 1)].mean()),
        "next": float(weights[np.arange(reach - 1), np.arange(1, reach)].mean()),
        "same": float(weights[np.arange(reach), np.arange(reach)].mean()),
        "later": float(np.triu(weights, 1).max()) if site.endswith("self") else 0.0,
        "translation": trace.translation,
    }
    picture = MatrixData(
        values=weights,
        row_tokens=rows,
        column_tokens=keys,
        scale=ColourScale.root("weight", 1.0),
        title=f"{head_label(layer, number)}, {NAMES[site].phrase}",
        label=f"Weights of {head_label(layer, number)} of the {NAMES[site].phrase} as a heatmap.",
        caption=label(site),
        row_name="query",
        column_name="key",
        file_name=file_name(head_name(site, layer, number), sentence=text),
    )
    caption = "Rows are queries, columns are keys; the lighter, the more weight. Every row adds up to 1."
    return View(
        picture, found, caption, FullPage("attention", {"text": text, "site": site, "layer": layer, "head": number})
    )


def grid(shipped: "Shipped", *, text: str, site: str) -> View:
    """Every head of one attention."""
    trace = shipped.trace(text)
    layers, heads = trace.shapes[site]
    surest = head_jobs.of_model(shipped.translator, site)
    found: dict[str, float | str] = {
        "layers": layers,
        "heads": heads,
        "all": sum(layers * heads for layers, heads in trace.shapes.values()),
        "d_model": shipped.translator.config.d_model,
        "d_k": shipped.translator.config.d_model // heads,
        "with_job": 0 if surest is None else len(surest.of_heads),
    }
    caption = "One tile a head, a row of tiles a layer; in a tile, rows are queries and columns keys."
    return View(Heads(trace, site), found, caption, FullPage("attention", {"text": text, "site": site}))


def jobs(shipped: "Shipped") -> View:
    """The surest head of every job that the atlas knows, and how many heads have none."""
    rows, heads, named = [], 0, 0
    for site in SITES:
        measured = head_jobs.of_model(shipped.translator, site)
        config = shipped.translator.config
        heads += config.num_heads * (config.num_layers if site.startswith("encoder") else config.decoder_layers)
        named += 0 if measured is None else len(measured.of_heads)
        best: dict[str, tuple[float, str]] = {}
        for (layer, head), of_head in ({} if measured is None else measured.of_heads).items():
            for job in of_head:
                if job.value > best.get(job.metric, (0.0, ""))[0]:
                    best[job.metric] = job.value, head_label(layer, head, site)
        rows += [(JOBS[metric][0], name, f"{value:.2f}") for metric, (value, name) in best.items()]
    found: dict[str, float | str] = {
        "heads": heads,
        "named": named,
        "unnamed": heads - named,
        "jobs": len(rows),
        "share": named / heads,
    }
    found["verdict"] = "Fewer than half" if named * 2 < heads else "More than half"
    picture = Rows((Column("job"), Column("surest head"), Column("metric", is_number=True)), tuple(rows))
    caption = "For each job the head that does it most, measured over the sentences of the atlas."
    return View(picture, found, caption, FullPage("atlas"))
