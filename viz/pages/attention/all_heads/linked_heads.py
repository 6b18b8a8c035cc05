"""Which heads link two words: the weight from one to the other in every head, ranked over all attentions at once.

The words are those that a person clicks, or those that the page opens on, or else those of the kept cell. A person may
choose several on either side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz import theme
from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.access.texts import Link
from viz.pictures.component import Component
from viz.pictures.head_grid.component import TileMetric
from viz.selection import state
from viz.selection.choices import KEPT
from viz.text import messages
from viz.text.messages import _, said
from viz.text.written import CROSS, DECODER, ENCODER, display_token, head_label
from viz.ui import finding, words
from viz.ui.controls import plain
from viz.ui.words import Chosen, chosen_in

if TYPE_CHECKING:
    from model import Trace
    from model.trace.axes import Axis

_QUESTION: Final = Component(
    "pages/attention/all_heads/link_question.js", "pages/attention/all_heads/link_question.css"
)
#: So many heads are listed, and their tiles framed.
MOST: Final = 3
LABEL: Final = said("Link between two words")
_CELLS: Final = said("Click a cell of the open head: the heads that link its two tokens most are then listed here.")
_WORDS: Final = said(
    "Click two words of the sentence above: first the query word, then the key word. Shift+click adds a word."
)


@dataclass(frozen=True, slots=True)
class LinkQuestion:
    """The question which heads link two words."""

    chosen: Chosen  #: the words
    asked: Sequence[str] | None  #: what both sides are called in the question; None where nothing is chosen
    how: str  #: what a person can click
    heard: int  #: the last choice of words to which this answers
    kept_colour: str = theme.ORANGE


@dataclass(frozen=True, slots=True)
class Question:
    """Which heads link what to what."""

    words: Chosen  #: those that look and those looked at, without what is no word
    names: tuple[str, str]  #: what both sides are called
    links: tuple[Link, ...]  #: where an attention can join them


def marked(trace: "Trace") -> Chosen:
    """The words that are marked in the head of the page: those of the question, or else those that are chosen."""
    site = state.current().common.site
    return _marked(trace, site, _question(trace, site))


def begin(trace: "Trace", site: str) -> None:
    """Keep the cell of the words that a person has chosen, where they come from another attention or page."""
    common, (looking, looked_at) = state.current().common, chosen_in(trace)
    if not looking or (common.token, common.key_token) != (None, None):
        return
    if not looked_at:
        row, key = texts.cell_of_word(trace, site, looking[0])
        state.change(token=row, key_token=key)
        return
    link = next((link for link in texts.links(trace, looking, looked_at) if link.site == site), None)
    if link is not None:
        state.change(token=link.rows[0], key_token=link.keys[0])


def show(trace: "Trace", site: str, redraw: Callable[[], None]) -> None:
    """Which two words, and the heads with most weight from the one to the other, each a button that opens it.

    Args:
        trace, site: what is shown.
        redraw: called where a button leads to another attention, whose choice is outside of this part of the page.
    """
    question = _question(trace, site)
    names = None if question is None else question.names
    how = _WORDS if words.word_lines(trace) else _CELLS
    _QUESTION.show(LinkQuestion(_marked(trace, site, question), names, _(how), words.heard()), key="link-question")
    if question is None:
        return
    ranked = _ranked(trace, question.links)
    if not ranked:
        st.caption(_why_none(trace, question))
        return
    with st.container(horizontal=True, gap="xsmall"):
        for rank, (weight, link, layer, head) in enumerate(ranked[:MOST]):
            # A key by rank: with other words the same button says another head.
            label = _button_label(weight, link, layer, head)
            st.button(label, key=f"linked-{rank}", on_click=_press, args=(trace, link, layer, head, redraw))
    how_counted = _how(trace, question, [each[1] for each in ranked[:MOST]])
    if how_counted:
        st.caption(how_counted)


def _button_label(weight: float, link: Link, layer: int, head: int) -> str:
    name = head_label(layer, head, link.site)
    if models.taught_head(state.current().model, link.site) == (layer, head):
        name += f" · {_('taught')}"
    if link.is_second_look:
        return _("{head} · {weight:.4f} (when reading it)", head=name, weight=weight)
    return f"{name} · {weight:.4f}"


def tile_metric(trace: "Trace", site: str) -> TileMetric | None:
    """The weight between the two words as the tiles of a site carry it; None where they do not meet there."""
    question = _question(trace, site)
    links = [] if question is None else [link for link in question.links if link.site == site]
    if question is None or not links:
        return None
    kept = finding.kept(trace)[0]
    link = next((link for link in links if kept == link.rows[0]), links[0])
    looking, looked_at = question.names
    if link.is_second_look:
        message = "For each head, the weight from “{looking}”, in the row that reads it, to “{looked_at}”."
        note = _(message, looking=looking, looked_at=looked_at)
    else:
        note = _("For each head, the weight from “{looking}” to “{looked_at}”.", looking=looking, looked_at=looked_at)
    return TileMetric(_("Weight"), texts.weights(trace, link), 2, "", note, num_best=MOST)


def choose(trace: "Trace", chosen: Chosen) -> None:
    """Keep what a person has chosen: of one word its row, or its key; of two the head that links them most."""
    looking, looked_at = chosen
    state.change(from_words=looking, to_words=looked_at, token=None, key_token=None)
    if not looking:
        return
    if not looked_at:
        row, key = texts.cell_of_word(trace, state.current().common.site, looking[0])
        # A word that the open head does not know is chosen too: nothing else is proposed then.
        state.change(token=row, key_token=key, head_chosen=True)
        return
    ranked = _ranked(trace, _links(trace, looking, looked_at))
    if ranked:
        _, link, layer, head = ranked[0]
        _open(trace, link, layer, head)
        state.change(metric=KEPT)


def _press(trace: "Trace", link: Link, layer: int, head: int, redraw: Callable[[], None]) -> None:
    before = state.current().common.site
    _open(trace, link, layer, head)
    if link.site != before:
        redraw()


def _open(trace: "Trace", link: Link, layer: int, head: int) -> None:
    """Open a head, and keep the cell in which it links the two words most."""
    cells = list(product(link.rows, link.keys))
    weights = [texts.weights(trace, Link(link.site, ((row,),), (key,)))[layer, head] for row, key in cells]
    row, key = cells[int(np.argmax(weights))]
    state.change(site=link.site, layer=layer, head=head, token=row, key_token=key)


def _clicked(trace: "Trace") -> Chosen | None:
    """The words of both sides that a person has clicked, if this text has them."""
    chosen = chosen_in(trace)
    return chosen if all(chosen) else None


def _found(trace: "Trace") -> Chosen | None:
    """The words of the finding, of which a cell is one piece only, as long as a person has chosen nothing else."""
    link, common = finding.of(trace).link, state.current().common
    if link is None or common.head_chosen or (common.token, common.key_token) != (None, None):
        return None
    looking, looked_at = _words_of_cell(trace, link.site, link.row, link.key)
    if link.site == DECODER:
        # The row reads the pronoun, though it is named by the word that it writes.
        read = texts.words(trace).at(link.row, is_source=False)
        looking = () if read is None else (read,)
    return (looking, looked_at) if looking and looked_at else None


def _words_of_cell(trace: "Trace", site: str, row: int, key: int) -> Chosen:
    looking, looked_at = texts.words_of_cell(trace, site, row, key)
    return () if looking is None else (looking,), () if looked_at is None else (looked_at,)


def _marked(trace: "Trace", site: str, question: Question | None) -> Chosen:
    """The words of a question; without one, those that a person has chosen, or the one of a row that is kept alone."""
    if question is not None:
        return question.words
    row, key = finding.kept(trace)
    chosen = chosen_in(trace)
    if any(chosen) or row is None or key is not None:
        return chosen
    return _words_of_cell(trace, site, row, 0)[0], ()


def _question(trace: "Trace", site: str) -> Question | None:
    """Return the clicked words, else those of the finding, else the kept cell as the open head shows it."""
    chosen = _clicked(trace) or _found(trace)
    if chosen is not None:
        labels = texts.words(trace).labels
        looking, looked_at = (" + ".join(display_token(labels[word]) for word in side) for side in chosen)
        return Question(chosen, (looking, looked_at), _links(trace, *chosen))
    row, key = finding.kept(trace)
    queries, keys = _axes(trace, site)
    at_row, at_key = None if row is None else queries.index_of(row), None if key is None else keys.index_of(key)
    if row is None or key is None or at_row is None or at_key is None:
        return None
    names = queries.labels[at_row], keys.labels[at_key]
    looking, looked_at = (display_token(name.replace("▁", "") or name) for name in names)
    links = _with_pronoun(trace, (Link(site, (queries.groups[at_row],), keys.groups[at_key]),))
    return Question(_words_of_cell(trace, site, row, key), (looking, looked_at), links)


def _axes(trace: "Trace", site: str) -> tuple["Axis", "Axis"]:
    """The rows and the columns of the open head: words or tokens, special tokens too."""
    view = MatrixView("weights", state.current().common.whole_words, special_tokens=True)
    return attention.shown_axes(trace, site, view)


def _links(trace: "Trace", looking: Sequence[int], looked_at: Sequence[int]) -> tuple[Link, ...]:
    """Where these words are joined; between words by rows of the open head, each of which may have several tokens."""
    links = _with_pronoun(trace, texts.links(trace, looking, looked_at))
    if not state.current().common.whole_words:
        return links

    def as_shown(link: Link) -> Link:
        groups = _axes(trace, link.site)[0].groups
        # Rows that read a word write its other tokens first: the last of them is the one that looks on. Of those that
        # write it, all but the first read its other tokens, where rows are grouped by what they read.
        at = -1 if link.is_second_look else 0
        rows = (next((tuple(group) for group in groups if word[at] in group), word) for word in link.looking)
        return replace(link, looking=tuple(rows))

    return tuple(map(as_shown, links))


def _with_pronoun(trace: "Trace", links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The same, and of a pronoun whose translation is known the other attention: it is read, and it is written."""
    link = finding.of(trace).link
    if link is None or link.step is None:
        return links
    rows = ((ENCODER, link.pronoun_row), (CROSS, link.step))
    pronoun = {site: row for site, row in rows if site in trace.shapes}
    first = next((one for one in links if len(one.looking) == 1 and one.rows[-1:] == (pronoun.get(one.site),)), None)
    if first is None:
        return links
    return *links, *(Link(site, ((row,),), first.keys) for site, row in pronoun.items() if site != first.site)


def _ranked(trace: "Trace", links: tuple[Link, ...]) -> list[tuple[float, Link, int, int]]:
    """Weight, link, layer and head, from the largest weight on; those without any weight are left out."""
    found = [
        (float(weight), link, layer, head)
        for link in links
        for (layer, head), weight in np.ndenumerate(texts.weights(trace, link))
        if weight > 0
    ]
    return sorted(found, key=lambda one: -one[0])


def _why_none(trace: "Trace", question: Question) -> str:
    looking, looked_at = (plain(name) for name in question.names)
    if question.links:
        return _("None: the mask hides that token from every head, because it is written later.")
    sides = {bool(side) and texts.words(trace).is_source(side[0]) for side in question.words}
    if len(sides) == 1:
        message = "This model has no self-attention that could lead from “{looking}” to “{looked_at}”."
        return _(message, looking=looking, looked_at=looked_at)
    message = (
        "No attention leads from “{looking}” to “{looked_at}”: the text is read before any word of the translation is "
        "written. In the other direction, from “{looked_at}” to “{looking}”, there is cross-attention."
    )
    return _(message, looking=looking, looked_at=looked_at)


def _how(trace: "Trace", question: Question, listed: list[Link]) -> str:
    """Which rows look, and how the pieces of words were taken together."""
    sentences, pronoun = [], finding.of(trace).link
    if pronoun is not None and len({link.site for link in listed}) > 1:
        message = "“{pronoun}” attends where the encoder reads it and where the decoder writes its translation."
        sentences.append(_(message, pronoun=plain(pronoun.pronoun)))
    if any(link.is_second_look for link in listed):
        sentences.append(
            _("“{word}” has two rows: the one that writes it and the one that reads it.", word=plain(question.names[0]))
        )
    if max(map(len, question.words)) > 1:
        sentences.append(_("Of several words the weights are summed."))
    elif any(len(link.rows) > 1 or len(link.keys) > 1 for link in listed):
        if state.current().common.whole_words:
            message = "For a word of several tokens, weights are summed over keys and averaged over queries."
        else:
            message = (
                "For a word of several tokens, weights are summed over keys and averaged over queries; the map has one "
                "cell per token."
            )
        sentences.append(_(message))
    return messages.in_a_row(sentences)
