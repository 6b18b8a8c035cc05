"""Views of the equation alone: pooling with it, and what becomes of it as vectors grow longer."""

from typing import TYPE_CHECKING

import numpy as np

from viz.pages.learn.lessons.pictures import Curves, FullPage, View
from viz.text.messages import said

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: d_k at which random dot products are drawn.
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)


def pooling(shipped: "Shipped", *, width: int, query: int) -> View:
    """Known points pooled by a query with a kernel of this width, both in hundredths."""
    from model.analysis import pooling as model_pooling

    result = model_pooling.regression(width / 100, query / 100)
    points = result.points
    keys, values = points.keys.numpy(), points.values.numpy()
    predicted = result.predicted.numpy()
    answer = float(result.row @ points.values)
    nearest = int(np.abs(keys - query / 100).argmin())
    found: dict[str, float | str] = {
        "width": width / 100,
        "query": query / 100,
        "answer": answer,
        "keys": len(keys),
        "keys_used": float(result.keys_used),
        "weight": float(result.row.max()),
        "nearest": float(values[nearest]),
        "mean": float(values.mean()),
        "spread": float(predicted.max() - predicted.min()),
        "verdict": said("Nearly a straight line")
        if np.ptp(predicted) < 0.5 * np.ptp(values)
        else said("A line through every point"),
    }
    picture = Curves(
        x=result.queries.numpy(),
        lines={said("pooled"): predicted, said("true"): result.true.numpy()},
        points={said("known"): (keys, values)},
        x_name=said("key, query"),
        y_name=said("value"),
        upright=query / 100,
    )
    caption = said(
        "Points: known keys with their values. Pooled: the answer to every query. True: what the points lie around. "
        "Dotted: this query."
    )
    choices = {"why_tab": "Pooling", "pooling_width": width, "pooling_query": query}
    return View(picture, found, caption, FullPage("why_attention", choices))


def saturation(shipped: "Shipped") -> View:
    """The largest weight's room: entropy of rows from random vectors by their length, divided by √d_k and not."""
    from model.analysis.scoring.saturation import random_saturation

    names = {said("divided by √dₖ"): "scaled", said("not divided"): "dot"}
    lines: dict[str, np.ndarray] = {
        name: np.array([float(random_saturation(kind, width).rows.entropy.median()) for width in WIDTHS])
        for name, kind in names.items()
    }
    divided, raw = lines.values()
    found: dict[str, float | str] = {
        "narrow": WIDTHS[0],
        "wide": WIDTHS[-1],
        "divided": float(divided[-1]),
        "raw": float(raw[-1]),
        "divided_narrow": float(divided[0]),
        "raw_narrow": float(raw[0]),
    }
    picture = Curves(
        x=np.array(WIDTHS, float), lines=lines, x_name=said("dₖ, length of queries and keys"),
        y_name=said("entropy of a row, bits"), log_x=True,
    )  # fmt: skip
    caption = said("Random queries and keys, a row of weights each: 0 bits means that one key has all the weight.")
    return View(picture, found, caption, FullPage("why_attention", {"why_tab": "Scores"}))
