"""How alike positions are, alone and within what the model reads: dot products over their distance."""

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pages.masks_positions.positions import data, figures
from viz.text.messages import _
from viz.text.sites import file_name
from viz.ui import frame


def show(
    shown: data.Shown,
    sums: Float[np.ndarray, "position d_model"],
    recorded: Float[np.ndarray, "position d_model"],
    is_own: bool,
) -> None:
    """Dot products of positions over their distance, and of what the model reads: embedding + position."""
    st.subheader(_("How alike are two places?"), anchor=False)
    length = len(shown.tokens)
    positions = data.likeness(shown.rows[:length], shown.rows[:length])
    content = data.likeness(sums, recorded)
    with st.grid(2, min_column_width=400, gap="medium"):
        with st.container(gap="xsmall"):
            st.markdown(_("**Positions alone**"))
            curve = data.products_at_distances(shown.count, shown.d_model, shown.base)
            frame.chart(
                figures.likeness_over_distance(curve, positions, shown.tokens, shows_means=False),
                "likeness-positions",
                file_name("positions likeness-positions"),
                _("Dot product of two positional encodings over their distance: all pairs lie on one curve"),
            )
            st.caption(
                _(
                    "PE(p) · PE(p + k) depends on k alone: every pair of this sentence lies on the curve, wherever "
                    "it stands. Near places are alike, far ones less."
                )
            )
        with st.container(gap="xsmall"):
            st.markdown(_("**Embedding + position**, which the first layer reads"))
            own_curve = data.products_at_distances(max(length, 2), sums.shape[1], data.OWN_BASE)
            frame.chart(
                figures.likeness_over_distance(own_curve, content, shown.tokens, shows_means=True),
                "likeness-sums",
                file_name("positions likeness-sums"),
                _("Dot product of embedding plus position for all pairs of tokens, over their distance"),
            )
            explained = _explained(content.explained)
            if not is_own:
                explained = _("{explained} This picture is always the model's own.", explained=explained)
            st.caption(explained)


def _explained(share: float | None) -> str:
    if share is None:
        return _(
            "The curve is the same; what a point lies off it is the words' doing. There are too few pairs to say how "
            "much is position."
        )
    return _(
        "The curve is the same; what a point lies off it is the words' doing. In this sentence position explains "
        "**{share:.0%}** of how pairs differ (R²).",
        share=share,
    )
