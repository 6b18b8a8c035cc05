"""The open head of the atlas: its rank, the nearest heads, and its strongest sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import streamlit as st
from jaxtyping import Float, Int

from viz.access import models
from viz.pages.atlas import corpora, data
from viz.pages.atlas.data import Look
from viz.pages.atlas.metric_texts import View
from viz.pictures.page_tools import AskedPlace
from viz.selection import state
from viz.selection.choices import ALL_HEADS
from viz.text.html import visible
from viz.text.messages import _, shown
from viz.text.written import NamedHead, Site, display_token, head_label
from viz.ui import controls, frame, long_work, present, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

#: A longer sentence is cut on its button; the attention page shows all of it.
MAX_SHOWN: Final = 90
#: So many words are shown before the first and after the last that is marked, in a longer sentence.
AROUND: Final = 6
#: Of a larger model the sentences are read only where a person asks for it.
LARGEST_READ: Final = 500_000_000
#: Heads that are named as the nearest.
NEAREST: Final = 3
#: So many of the best heads are links.
BEST: Final = 5


def show(atlas: "Atlas", view: View) -> None:
    """The head that is chosen."""
    layers, heads = view.values.shape
    with st.container(key="choices-head", horizontal=True, vertical_alignment="bottom"):
        layer, head = controls.layer(layers), controls.head(heads)
    terms.markdown(_numbers(view, layer, head))
    with st.container(horizontal=True, gap="xsmall"):
        for rank, (best_layer, best_head) in enumerate(view.best(BEST)):
            # A key by rank: with another metric the same button says another head.
            st.button(
                f"{head_label(best_layer, best_head)} · {view.metric.written(view.values[best_layer, best_head])}",
                key=f"atlas-best-{rank}", type="tertiary", on_click=state.change,
                kwargs={"layer": best_layer, "head": best_head},
            )  # fmt: skip
    near = _nearest(atlas, view.site, layer * heads + head, heads)
    frame.caption(
        "Heads with the most similar weights: {near}. The distance is in brackets, from 0 to 1: the square root of "
        "the Jensen–Shannon divergence of the weights.",
        near=near,
    )
    _strongest(atlas, view, layer, head)


def nearest(distances: Float[np.ndarray, "layer_head layer_head"]) -> Int[np.ndarray, "layer_head rank"]:
    """For each head the heads nearest to it, the nearest first; of equally near ones the first. NaN: no such head."""
    apart = np.nan_to_num(np.array(distances, dtype=np.float64), nan=np.inf)
    np.fill_diagonal(apart, np.inf)
    heads = int((~np.isnan(np.diag(distances))).sum())
    order: np.ndarray = np.argsort(apart, axis=1, kind="stable")[:, : min(NEAREST, heads - 1)]
    return order


def _nearest(atlas: "Atlas", site: str, at: int, heads: int) -> str:
    """The heads nearest to one, as links with their distances."""
    distances = data.distances(atlas, site)
    return ", ".join(
        f"{NamedHead(site, *divmod(int(other), heads)).link} ({distances[at, other]:.2f})"
        for other in nearest(distances)[at]
    ) or _("none")


def _numbers(view: View, layer: int, head: int) -> str:
    value = view.values[layer, head]
    name = view.metric.name
    if np.isnan(value):
        return _("**{name}**: not available", name=name)
    known = view.values[~np.isnan(view.values)]
    if view.metric.is_error:
        message = "**{name} {value}**, rank {rank} of {count} heads (1 is the lowest)"
        return _(
            message, name=name, value=view.metric.written(value), rank=int((known < value).sum()) + 1, count=known.size
        )
    message = "**{name} {value}**, rank {rank} of {count} heads (1 is the highest)"
    return _(
        message, name=name, value=view.metric.written(value), rank=int((known > value).sum()) + 1, count=known.size
    )


def _strongest(atlas: "Atlas", view: View, layer: int, head: int) -> None:
    """The sentences in which the metric of the head is highest, each a way to the attention page."""
    ranked = atlas.strongest.get(view.name)
    name = view.metric.name
    if ranked is None:
        terms.caption(_(view.metric.elsewhere, name=name))
        if view.key == "antecedent" and not present.is_on():
            st.button(_("Measured on the Compare page"), icon=":material/arrow_forward:", on_click=_open_measured)
        return
    numbers = [int(number) for number in ranked[view.index, layer, head] if number >= 0]
    corpus = corpora.chosen()
    terms.markdown(_(corpus.STRONGEST, name=shown(name).lower()))
    if not numbers:
        frame.caption("None: this metric is undefined for every token of the corpus.")
        return
    looks = _looks(atlas, numbers, view.site, layer, head) if corpus.IS_READ else None
    with st.container(gap="xsmall"):
        for number, look in zip(numbers, looks or [None] * len(numbers), strict=True):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.button(
                    _plain(atlas.texts[number]) if look is None else _tinted(look),
                    key=f"atlas-sentence-{number}", type="tertiary", icon=":material/grid_view:", wrap=True,
                    on_click=_open_sentence, args=(atlas.texts[number], view, layer, head),
                )  # fmt: skip
                _offer_why(number, look, atlas.texts[number], (view.site, layer, head))
    if looks:
        frame.caption(
            "The head's largest weight per sentence: :blue-background[from] one word :orange-background[to] another."
        )
    if corpus.IS_READ:
        frame.caption(
            "Click to open the sentence with this head on the Attention page, with the model's own translation."
        )


def _offer_why(number: int, look: Look | None, text: str, head: tuple[str, int, int]) -> None:
    """The way to why the head gives its largest weight in a sentence, if Attention reads that as the atlas did."""
    choice, (site, layer, at) = state.current().model, head
    if look is None or look.cell is None or models.reads_chat(choice) or choice.second_text.strip():
        return
    # Its twin is the one that is known of the sentence, if there is one.
    asked = AskedPlace(cast(Site, site), layer, at, *look.cell), (text, "")
    st.button(_("Why?"), key=f"atlas-why-{number}", type="tertiary", on_click=present.ask_why, args=asked)


def _looks(atlas: "Atlas", numbers: list[int], site: str, layer: int, head: int) -> "tuple[Look | None, ...] | None":
    """Where the head looks in each sentence; None until they are read."""
    choice = state.current().model
    task = data.looks(models.reader(choice), tuple(atlas.texts[number] for number in numbers), site, layer, head)
    start = models.weights_bytes(choice) <= LARGEST_READ
    return long_work.outcome(task, _("Show what it attends to"), key="atlas-looks", start=start)


def _plain(text: str) -> str:
    text = " ".join(visible(text).split())
    return plain(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} …")


def _tinted(look: Look) -> str:
    """A sentence, and what was written where the head looks from there, with both words marked, as Markdown."""
    known, marked = look.words, (look.looking, look.looked_at)
    text, written = range(known.num_source), range(known.num_source, len(known.labels))
    lines = [line for line in (text, written) if line is text or look.looking in written]
    return " → ".join(_tinted_line(known.labels, line, marked) for line in lines if line)


def _tinted_line(labels: Sequence[str], line: range, marked: tuple[int, int]) -> str:
    own = [word for word in marked if word in line] or [line.start]
    shown = line
    if sum(len(labels[word]) + 1 for word in line) > MAX_SHOWN:
        shown = range(max(line.start, min(own) - AROUND), min(line.stop, max(own) + AROUND + 1))
    words = [_word(labels[word], word, marked) for word in shown]
    return " ".join(["…"] * (shown.start > line.start) + words + ["…"] * (shown.stop < line.stop))


def _word(label: str, word: int, marked: tuple[int, int]) -> str:
    # A word that looks at itself is one that looks.
    colour = "blue" if word == marked[0] else "orange" if word == marked[1] else ""
    text = plain(display_token(label))
    return f":{colour}-background[{text}]" if colour else text


def _open_measured() -> None:
    state.change(coreference_tab="Measured")
    present.open_page("coreference")


def _open_sentence(text: str, view: View, layer: int, head: int) -> None:
    """The sentence on the attention page, at the head of a view."""
    corpora.chosen().choose(text)
    state.change(attention_tab=ALL_HEADS, measure=view.read_off, from_atlas=True)
    # Chosen, so that the page shows this head and not its own finding.
    state.change(site=view.site, layer=layer, head=head)
    present.open_page("attention")
