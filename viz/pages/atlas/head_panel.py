"""Show one head of the atlas with its nearest heads and strongest sentences, and all heads as a table.

In files sites are named as in arrays.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.pages.atlas import data, metric_texts
from viz.pages.atlas.data import Look
from viz.pages.atlas.figures import neighbours
from viz.pages.atlas.metric_texts import View
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.selection import state
from viz.selection.choices import ALL_HEADS
from viz.text import written
from viz.text.html import visible
from viz.text.messages import _, said, shown
from viz.text.written import NamedHead, display_token, file_name, head_label
from viz.ui import controls, frame, long_work, present
from viz.ui.controls import plain
from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

#: A longer sentence is cut on its button; the attention page shows all of it.
MAX_SHOWN: Final = 90
#: So many words are shown before the first and after the last that is marked, in a longer sentence.
AROUND: Final = 6
#: Of a larger model the sentences are read only where a person asks for it.
LARGEST_READ: Final = 500_000_000
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
    near = neighbours(data.distances(atlas, view.site), heads, lambda *other: NamedHead(view.site, *other).link)
    at = layer * heads + head
    frame.small_print("Most similar to {near}. In brackets: the distance, from 0 to 1.", near=near[at])
    _strongest(atlas, view, layer, head)


def _numbers(view: View, layer: int, head: int) -> str:
    value = view.values[layer, head]
    name = metric_texts.TEXTS[view.key].name
    if np.isnan(value):
        return _("**{name}**: not available", name=name)
    known = view.values[~np.isnan(view.values)]
    if view.key in metric_texts.ERRORS:
        message = "**{name} {value}**, rank {rank} of {count} heads (1 is the lowest)"
        return _(message, name=name, value=view.shown(value), rank=int((known < value).sum()) + 1, count=known.size)
    message = "**{name} {value}**, rank {rank} of {count} heads (1 is the highest)"
    return _(message, name=name, value=view.shown(value), rank=int((known > value).sum()) + 1, count=known.size)


def _strongest(atlas: "Atlas", view: View, layer: int, head: int) -> None:
    """The sentences in which the metric of the head is highest, each a way to the attention page."""
    ranked = atlas.strongest.get(view.name)
    name = metric_texts.TEXTS[view.key].name
    if ranked is None:
        message = "“{name}” is measured on separate sentences, so no sentence of the corpus is strongest in it."
        st.caption(
            _("“{name}” is measured on random tokens, so no sentence of the corpus is strongest in it.", name=name)
            if view.key in metric_texts.ON_RANDOM_TOKENS
            else _(message, name=name)
        )
        if view.key == "antecedent":
            st.button(_("Measured on the Compare page"), icon=":material/arrow_forward:", on_click=_open_measured)
        return
    numbers = [int(number) for number in ranked[view.index, layer, head] if number >= 0]
    st.markdown(_("Sentences in which **{name}** of this head is highest", name=shown(name).lower()))
    if not numbers:
        frame.small_print("None: this metric is undefined for every token of the corpus.")
        return
    looks = _looks(atlas, numbers, view.site, layer, head)
    with st.container(gap="xsmall"):
        for number, look in zip(numbers, looks or [None] * len(numbers), strict=True):
            st.button(
                _plain(atlas.texts[number]) if look is None else _tinted(look),
                key=f"atlas-sentence-{number}", type="tertiary", icon=":material/grid_view:", wrap=True,
                on_click=_open_sentence, args=(atlas.texts[number], view, layer, head),
            )  # fmt: skip
    if looks:
        frame.small_print(
            "The largest weight of this head there: :blue-background[from] a word :orange-background[to] another."
        )
    frame.small_print(
        "A click opens the sentence on the Attention page at this head, with the model's own translation."
    )


def _looks(atlas: "Atlas", numbers: list[int], site: str, layer: int, head: int) -> "tuple[Look | None, ...] | None":
    """Where the head looks in each sentence; None until they are read."""
    choice = state.current().model
    task = data.looks(models.reader(choice), tuple(atlas.texts[number] for number in numbers), site, layer, head)
    start = models.weights_bytes(choice) <= LARGEST_READ
    return long_work.outcome(task, _("Show where it looks"), key="atlas-looks", start=start)


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
    state.choose(text=text)
    state.change(attention_tab=ALL_HEADS, measure=view.read_off, from_atlas=True)
    # Chosen, so that the page shows this head and not its own finding.
    state.change(site=view.site, layer=layer, head=head)
    present.open_page("attention")


def show_table(atlas: "Atlas", view: View) -> None:
    """All metrics of all heads of the site; a row shows its head below, its name opens it."""
    layers, heads = view.values.shape
    common = state.current().common
    columns = [HeadColumn(each.name, each.values.ravel(), each.decimals, each.unit) for each in view.maps]
    names = [NamedHead(view.site, *head) for head in np.ndindex(layers, heads)]
    label = said("All metrics of all heads of this attention")
    head_table(
        HeadTable(names, columns, label, common.layer * heads + common.head),
        key="atlas-table",
        on_row=lambda row: state.change(layer=row // heads, head=row % heads),
    )
    frame.small_print(
        "Click a title to sort, a row to show its head below, its name to open it. The file contains every "
        "attention, also by norms."
    )
    make = partial(all_metrics, atlas, written.SITES)
    controls.table_button(_("All heads and metrics (CSV)"), make, file_name("atlas"))
    with st.container(border=True):
        show(atlas, view)


def one_metric(values: Float[np.ndarray, "layer head"]) -> bytes:
    """One metric at one site: a row per layer, a column per head; cells without the metric are empty."""
    rows = ((layer, *_known(numbers)) for layer, numbers in enumerate(digits(values)))
    return table(("layer", *(f"head_{head}" for head in range(1, values.shape[1] + 1))), rows)


def all_metrics(atlas: "Atlas", sites: Sequence[str]) -> bytes:
    """Every metric of every head: a row for each head of the model."""
    indices = list(np.ndindex(*atlas.mean_outputs.shape[:3]))
    columns = digits(np.stack([values.ravel() for values in atlas.metrics.values()], axis=1))
    rows = (
        (sites[site], layer, head, *_known(numbers))
        for (site, layer, head), numbers in zip(indices, columns, strict=True)
        if _is_there(atlas, sites[site], layer, head)
    )
    return table(("site", "layer", "head", *atlas.metrics), rows)


def _is_there(atlas: "Atlas", site: str, layer: int, head: int) -> bool:
    of_layers = atlas.heads.get(site, ())
    return layer < len(of_layers) and head < of_layers[layer]


def distances(values: Float[np.ndarray, "layer_head layer_head"], heads: int) -> bytes:
    """How far heads of a site are from one another: a row and a column for each, named as on pages."""
    names = [written.head_label(*divmod(index, heads)) for index in range(len(values))]
    return table(("head of layer", *names), ((name, *row) for name, row in zip(names, digits(values), strict=True)))


def _known(numbers: Sequence[str]) -> list[str]:
    return ["" if number == "nan" else number for number in numbers]
