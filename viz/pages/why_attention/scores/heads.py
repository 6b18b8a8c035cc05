"""The trained heads of the chosen model, scored with the scaling and without it."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz.core import html
from viz.core.file_names import file_name, head_name
from viz.core.messages import _
from viz.core.sites import head_label
from viz.pages.why_attention.scores import data, figures
from viz.selection import state
from viz.ui import controls, frame, token_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model import Trace


def show(trace: "Trace") -> None:
    """All heads as points, scaled and not, and a row of one head both ways."""
    st.subheader(_("In the trained heads of this model"), anchor=False)
    if not trace.knows_inputs:
        frame.note(
            _("Queries and keys of this model are not known, only weights: its scores cannot be scaled otherwise.")
        )
        return
    heads = data.heads(trace)
    swatches = html.swatches([(figures.COLOURS[name], _named(name, heads)) for name in ("scaled", "dot")])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site, layer, head, row = _chosen_row(trace)
    st.html(swatches)
    name, which = file_name("scores", "heads", sentence=trace.text), f"row {row + 1} of {head_label(layer, head, site)}"
    with st.grid(2, min_column_width=330, gap="medium"):
        frame.chart(
            figures.head_cloud({name: heads[name] for name in ("dot", "scaled")}),
            "score-heads",
            name,
            _("Every head of the model as two points, scaled and unscaled: spread of its scores and gradient"),
        )
        frame.chart(
            figures.head_row(data.row_weights(trace, site, layer, head, row), trace.axis_tokens(site)[1]),
            "score-head-row",
            file_name("scores", head_name(site, layer, head), f"row{row}", sentence=trace.text),
            _("The weights of {which}, scaled and not", which=which),
        )
    st.caption(
        _(
            "{cloud_caption} On the right, {which}, by default the one that changes most.",
            cloud_caption=_cloud_caption(trace, heads),
            which=which,
        )
    )


def _named(name: str, heads: "Mapping[str, data.Heads]") -> str:
    widths = sorted(set(heads[name].widths))
    root = " or ".join(f"√{width}" for width in widths)
    return f"scores divided by {root}" if name == "scaled" else "the same, not divided"


def _cloud_caption(trace: "Trace", heads: "Mapping[str, data.Heads]") -> str:
    scaled, dot = heads["scaled"], heads["dot"]
    divides = data.own_scale(trace) != 1.0
    own = "divides" if divides else "does not divide"
    place = "with the division in place: a model trained without it" if divides else "without it: one trained with it"
    return (
        f"On the left a point is a head of this sentence, by the medians of its rows. This model {own}. Taking queries "
        f"and keys as they are, the division leaves {np.median(scaled.evenness):.0%} of the largest possible entropy "
        f"in the middle head, and no division {np.median(dot.evenness):.0%}; the gradient is "
        f"{np.median(scaled.gradient):.3f} and {np.median(dot.gradient):.3f}. Training chose queries and keys "
        f"{place} could have made them {'smaller' if divides else 'larger'}."
    )


def _chosen_row(trace: "Trace") -> tuple[str, int, int, int]:
    """Widgets for a site, layer, head and row; what they say."""
    site = controls.site(trace.sites)
    layers, heads = trace.shapes[site]
    state.put(state.current().within(layers, heads))
    layer, head = controls.layer(layers), controls.head(heads)
    default = data.most_changed_row(trace, site, layer, head)
    return site, layer, head, controls.token("token", _("Row"), token_labels.row_labels(trace, site), default=default)
