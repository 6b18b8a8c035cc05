"""Views of the masks: who may see whom in each of the three attentions."""

from typing import TYPE_CHECKING

import numpy as np

from viz.components.matrix_picture.component import ColourScale, MatrixData
from viz.core import theme
from viz.core.file_names import file_name
from viz.core.sites import DECODER, NAMES
from viz.pages.learn.lessons.pictures import FullPage, View

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped


def mask(shipped: "Shipped", *, text: str, site: str) -> View:
    """The mask of an attention: light where a query may look."""
    trace = shipped.trace(text)
    allowed = trace.mask(site, 0).numpy()
    largest = max(
        float(np.where(allowed, 0.0, trace.weights(site, layer).numpy()).max())
        for layer in range(trace.layers_of(site))
    )
    rows, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    middle = len(rows) // 2
    found: dict[str, float | str] = {
        "rows": len(rows),
        "keys": len(keys),
        "forbidden": int((~allowed).sum()),
        "forbidden_weight": largest,
        "seen_first": int(allowed[0].sum()),
        "seen_last": int(allowed[-1].sum()),
        "middle": rows[middle],
        "seen_middle": int(allowed[middle].sum()),
        "position": middle + 1,
        "first_read": trace.target_tokens[0] if site == DECODER else keys[0],
    }
    found["verdict"] = (
        "Itself and what comes before it"
        if not np.triu(allowed, 1).any() and allowed.diagonal().all()
        else "Everything"
    )
    picture = MatrixData(
        values=allowed.astype(np.float32),
        row_tokens=rows,
        column_tokens=keys,
        scale=ColourScale("allowed", theme.SEQUENTIAL, 0.0, 1.0, 1.0, ((0.0, "no"), (1.0, "yes"))),
        title=f"Mask of the {NAMES[site].phrase}",
        label=f"Mask of the {NAMES[site].phrase} as a heatmap.",
        row_name="query",
        column_name="key",
        file_name=file_name("mask", site, sentence=text),
    )
    caption = "Light: this query may look at this key. Dark: its score is −∞, so its weight is exactly 0."
    return View(picture, found, caption, FullPage("masks_positions", {"text": text, "site": site}))
