"""The trained heads of the chosen model, scored with the scaling and without it."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.pages.why_attention.scores import data, figures
from viz.selection import state
from viz.text import html, messages
from viz.text.messages import _, said
from viz.text.sites import file_name, head_label, head_name
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
    if not heads:
        frame.note(
            _("Every row of this text has one key alone: its weight is 1, with the division by √d_k and without it.")
        )
        return
    swatches = html.swatches([(figures.COLOURS[name], _named(name, heads)) for name in ("scaled", "dot")])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site, layer, head, row = _chosen_row(trace)
    st.html(swatches)
    name = file_name("scores", "heads", sentence=trace.text)
    which = _("row {row} of {head}", row=row + 1, head=head_label(layer, head, site))
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
    root = messages.with_or(f"√{width}" for width in widths)
    return _("scores divided by {root}", root=root) if name == "scaled" else _("the same, not divided")


def _cloud_caption(trace: "Trace", heads: "Mapping[str, data.Heads]") -> str:
    scaled, dot = heads["scaled"], heads["dot"]
    return _(
        _OF_DIVIDING if data.own_scale(trace) != 1.0 else _OF_UNDIVIDED,
        scaled=np.median(scaled.evenness),
        dot=np.median(dot.evenness),
        scaled_gradient=np.median(scaled.gradient),
        dot_gradient=np.median(dot.gradient),
    )


_OF_DIVIDING: Final = said(
    "On the left a point is a head of this sentence, by the medians of its rows. This model divides. Taking queries "
    "and keys as they are, the division leaves {scaled:.0%} of the largest possible entropy in the middle head, and no "
    "division {dot:.0%}; the gradient is {scaled_gradient:.3f} and {dot_gradient:.3f}. Training chose queries and keys "
    "with the division in place: a model trained without it could have made them smaller."
)
_OF_UNDIVIDED: Final = said(
    "On the left a point is a head of this sentence, by the medians of its rows. This model does not divide. Taking "
    "queries and keys as they are, the division leaves {scaled:.0%} of the largest possible entropy in the middle "
    "head, and no division {dot:.0%}; the gradient is {scaled_gradient:.3f} and {dot_gradient:.3f}. Training chose "
    "queries and keys without it: one trained with it could have made them larger."
)


def _chosen_row(trace: "Trace") -> tuple[str, int, int, int]:
    """Widgets for a site, layer, head and row; what they say."""
    site = controls.site(trace.sites)
    layers, heads = trace.shapes[site]
    state.put(state.current().within(layers, heads))
    layer, head = controls.layer(layers), controls.head(heads)
    default = data.most_changed_row(trace, site, layer, head)
    return site, layer, head, controls.token("token", _("Row"), token_labels.row_labels(trace, site), default=default)
