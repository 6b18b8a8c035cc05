"""Show one head of the atlas: its metric, its rank, the heads nearest to it, the sentences in which it is strongest."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.pages.atlas import data, metric_texts
from viz.pages.atlas.figures import neighbours
from viz.pages.atlas.view import View
from viz.selection import state
from viz.selection.attention import ALL_HEADS
from viz.text.html import visible
from viz.text.messages import _, shown
from viz.text.sites import head_label
from viz.ui import controls, tools
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

#: A longer sentence is cut on its button; the attention page shows all of it.
MAX_SHOWN: Final = 90
#: So many of the best heads are links.
BEST: Final = 5


def show(atlas: "Atlas", view: View) -> None:
    """The head that is chosen."""
    layers, heads = view.values.shape
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, head = controls.layer(layers), controls.head(heads)
    st.markdown(_numbers(view, layer, head))
    with st.container(horizontal=True, gap="xsmall"):
        for rank, (best_layer, best_head) in enumerate(view.best(BEST)):
            # A key by rank: with another metric the same button says another head.
            st.button(
                f"{head_label(best_layer, best_head)} · {view.shown(view.values[best_layer, best_head])}",
                key=f"atlas-best-{rank}", type="tertiary", on_click=state.change,
                kwargs={"layer": best_layer, "head": best_head},
            )  # fmt: skip
    near = neighbours(data.distances(atlas, view.site), heads)[layer * heads + head]
    st.caption(_("Most similar to {near}. In brackets: the distance, from 0 to 1.", near=near))
    _strongest(atlas, view, layer, head)


def _numbers(view: View, layer: int, head: int) -> str:
    value = view.values[layer, head]
    name = metric_texts.TEXTS[view.key].name
    if np.isnan(value):
        return _("**{name}**: not available", name=name)
    known = view.values[~np.isnan(view.values)]
    if view.key in metric_texts.ERRORS:
        return _(
            "**{name} {value}**, rank {rank} of {count} heads (1 is the lowest)",
            name=name,
            value=view.shown(value),
            rank=int((known < value).sum()) + 1,
            count=known.size,
        )
    return _(
        "**{name} {value}**, rank {rank} of {count} heads (1 is the highest)",
        name=name,
        value=view.shown(value),
        rank=int((known > value).sum()) + 1,
        count=known.size,
    )


def _strongest(atlas: "Atlas", view: View, layer: int, head: int) -> None:
    """The sentences in which the metric of the head is highest, each a way to the attention page."""
    ranked = atlas.strongest.get(view.name)
    name = metric_texts.TEXTS[view.key].name
    if ranked is None:
        st.caption(
            _("“{name}” is measured on random tokens, so no sentence of the corpus is strongest in it.", name=name)
            if view.key in metric_texts.ON_RANDOM_TOKENS
            else _(
                "“{name}” is measured on separate sentences, so no sentence of the corpus is strongest in it.",
                name=name,
            )
        )
        if view.key == "antecedent":
            st.button(_("Measured on the Compare page"), icon=":material/arrow_forward:", on_click=_open_measured)
        return
    numbers = [int(number) for number in ranked[view.index, layer, head] if number >= 0]
    st.markdown(_("Sentences in which **{name}** of this head is highest", name=shown(name).lower()))
    if not numbers:
        st.caption(_("None: this metric is undefined for every token of the corpus."))
        return
    with st.container(gap="xsmall"):
        for number in numbers:
            text = " ".join(visible(atlas.texts[number]).split())
            cut = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} …"
            st.button(
                plain(cut), key=f"atlas-sentence-{number}", type="tertiary", icon=":material/grid_view:", wrap=True,
                on_click=_open_sentence, args=(atlas.texts[number], view, layer, head),
            )  # fmt: skip
    st.caption(_("A click opens the sentence on the Attention page at this head, with the model's own translation."))


def _open_measured() -> None:
    state.change(coreference_tab="Measured")
    tools.open_page("coreference")


def _open_sentence(text: str, view: View, layer: int, head: int) -> None:
    """The sentence on the attention page, at the head of a view."""
    state.choose(text=text)
    state.change(attention_tab=ALL_HEADS, measure=view.read_off, from_atlas=True)
    # Chosen, so that the page shows this head and not its own finding.
    state.change(site=view.site, layer=layer, head=head)
    tools.open_page("attention")
