"""Texts around an open head: the headline, how to read it, what its numbers mean, which part is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import attention, models
from viz.pictures.component import Component
from viz.selection import state
from viz.selection.choices import Common, DrawnAs
from viz.text import written
from viz.text.messages import _, said, shown
from viz.text.written import percent
from viz.ui import finding, head_metrics, token_labels
from viz.ui.head_metrics import MEASURES, Measure

if TYPE_CHECKING:
    from model import Trace

HOW_TO_READ: Final[Mapping[DrawnAs, str]] = {
    "Heatmap": said(
        "Rows are queries, columns are keys; the lighter, the larger. Click a cell to keep its query and key. Drag "
        "to zoom, then drag to move; double-click to see the whole picture again."
    ),
    "Lines": said(
        "A line leads from a query on the left to a key on the right; the stronger the line, the larger the value. "
        "Point at a token to see only its lines, with one box per head next to the tokens they lead to; click the "
        "token to keep them."
    ),
}
_CROSS_WINDOW: Final = said(
    "Queries {first:,} to {last:,} of {count:,} and the corresponding keys of the source: more lines would be "
    "illegible. Use the slider or its arrow keys to show other queries. Lines to other keys are not drawn, so the "
    "lines of a query need not sum to 1."
)
_SELF_WINDOW: Final = said(
    "Queries {first:,} to {last:,} of {count:,} and the same keys: more lines would be illegible. Use the slider or "
    "its arrow keys to show other queries. Lines to other keys are not drawn, so the lines of a query need not sum to "
    "1."
)
COMPONENT: Final = Component("pages/attention/opened_head/headline.js", "pages/attention/opened_head/headline.css")


@dataclass(frozen=True, slots=True)
class Headline:
    """What is worth seeing at an attention: plain words and words that stand out by turns; whether it is a guess."""

    site: str
    suggestion: Sequence[str]
    is_guess: bool
    #: which row the open head shows of the words that are chosen, where that is not all of them.
    row: str = ""


def show_sign(trace: "Trace") -> None:
    """The sign that tells tokens that begin a word from others, where those of a text have it."""
    source = trace.source
    if not source.has_words:
        return
    if any(name.startswith("##") for name in source.names):
        st.caption(_("\\#\\# continues a word"), width="content")
    elif source.names == source.tokens and any("▁" in token for token in (*source.tokens, *trace.target_tokens)):
        st.caption(_("▁ begins a word"), width="content")


def of_tiles_without_sinks(trace: "Trace", site: str) -> str:
    """Which keys the tiles of all heads leave out, and what these hold."""
    if attention.is_long(trace, site):
        return _("For such a long text, the tiles are computed layer by layer and keep the sinks.")
    held = [attention.held_by_sinks(trace, site, layer) for layer in range(trace.layers_of(site))]
    low, middle, high = np.quantile(np.concatenate(held), (0, 0.5, 1))
    message = (
        "Sinks are left out; their columns are empty: {named}. They have {middle} of the weight of the median head "
        "({low} to {high}); metrics leave them out too, and nothing is renormalised."
    )
    ends = {"low": percent(low), "middle": percent(middle), "high": percent(high)}
    return _(message, named=token_labels.sinks_named(trace, site), **ends)


def of_overview(opened: attention.LongHead, measure: Measure) -> str:
    """Describe the overview of a long text's head, drawn until a person zooms in; "" where it is all there is."""
    tall, wide = opened.block
    if measure.is_share and tall == wide == 1:
        return ""
    if measure.is_share:
        message = "Zoomed out, each point shows the largest of {tall} × {wide} values; zoom in to see the exact values."
        return _(message, tall=tall, wide=wide)
    message = (
        "Zoomed out, each point shows the largest of {tall} × {wide} values; zoom in to see the exact values. The "
        "colour scale ends at the largest value of this head."
    )
    return _(message, tall=tall, wide=wide)


def of_window(opened: attention.OpenedLayer, site: str, start: int, count: int) -> str:
    """Which part of the text the lines join, and how much of it they leave out."""
    numbers = {"first": start + 1, "last": start + len(opened.queries.labels), "count": count}
    return _(_CROSS_WINDOW if site == written.CROSS else _SELF_WINDOW, **numbers)


def of_measure(trace: "Trace", measure: Measure, site: str, common: Common) -> str:
    """What the numbers are, with their formula, and what is left out or taken together, a line each."""
    meaning, formula = measure.explained_at(site)
    if measure is MEASURES["weights"] and trace.knows_inputs:
        inputs = trace.attention(site, common.layer)
        formula = head_metrics.weights_formula(inputs.score.name, is_scaled=inputs.scale != 1.0)
    elif measure is MEASURES["norms"] and not models.abilities(state.current().model).has("output projection"):
        meaning, formula = (
            _("The norm of the vector that the head adds for a key."),
            head_metrics.NORMS_WITHOUT_PROJECTION,
        )
    sentences = [shown(meaning), formula]
    if common.whole_words and attention.has_words_of_several(trace, site):
        sentences.append(_("For a word of several tokens, weights are summed over keys and averaged over queries."))
    if not common.sinks:
        held = attention.held_by_sinks(trace, site, common.layer)
        if measure.is_per_head:
            message = (
                "Sinks are left out as keys: {named}. They have {share} of this head's weight; nothing is "
                "renormalised, so rows of shares do not sum to 1."
            )
        else:
            message = (
                "Sinks are left out as keys: {named}. They have {share} of the weight of this layer's heads; nothing "
                "is renormalised, so rows of shares do not sum to 1."
            )
        share = percent(float(held[common.head] if measure.is_per_head else held.mean()))
        sentences.append(_(message, named=token_labels.sinks_named(trace, site), share=share))
    if not measure.is_per_head:
        sentences.append(_("All heads are combined here, so there is no head to choose."))
    return "  \n".join(sentences)


def show_headline(trace: "Trace", row: str) -> None:
    """The headline of the open head; a suggestion as long as a person has chosen nothing else.

    `row` says which row is shown of what is chosen, "" where that need not be said.
    """
    common = state.current().common
    is_chosen = common.head_chosen or (common.token, common.key_token) != (None, None)
    suggestion = [] if is_chosen else finding.parts(trace)
    is_guess = bool(suggestion) and finding.of(trace).is_guess
    COMPONENT.show(Headline(common.site, suggestion, is_guess, row), key="headline")
