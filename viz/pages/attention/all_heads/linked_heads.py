"""Which heads link two words: the weight from one to the other in every head, ranked over all attentions at once.

The words are those that a person clicks, or those that the page opens on, or else those of the kept cell. A person may
choose several on either side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz import theme
from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.access.texts import Link
from viz.pages.attention.opened_head import picture_panel
from viz.pictures.component import Component
from viz.pictures.head_grid.component import TileMetric
from viz.selection import state
from viz.text import messages
from viz.text.messages import _, plural, said
from viz.text.written import DECODER, NamedHead, display_token, head_label
from viz.ui import finding, terms, words
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
#: What was kept before the first of the words was chosen, and in which head: who lets go of the words has it again.
_BEFORE: Final = "linked-heads/before"
LABEL: Final = said("Link between two words")
_CELLS: Final = said("Click a cell of the open head: the heads that link its two tokens most are then listed here.")
_PATCHES: Final = said(
    "Drag a rectangle on the picture: the heads that give it the most weight in the framed row are then listed here."
)
_WORDS: Final = said(
    "Click two words of the sentence above: first the query word, then the key word. Shift+click adds a word."
)


@dataclass(frozen=True, slots=True)
class LinkQuestion:
    """The question which heads link two words."""

    chosen: Chosen  #: the words
    is_proposed: bool  #: whether the page marks them, and no person has chosen any
    asked: Sequence[str] | None  #: what both sides are called in the question; None where nothing is chosen
    how: str  #: what a person can click
    heard: int  #: the last choice of words to which this answers
    kept_colour: str = theme.ORANGE


@dataclass(frozen=True, slots=True)
class Question:
    """Which heads link what to what."""

    words: Chosen  #: those that look and those looked at, without what is no word
    names: tuple[str, str]  #: what both sides are called
    link: Link | None  #: where an attention joins them, if one does
    patches: int = 0  #: of a rectangle that a person drew, how many it has


def marked(trace: "Trace") -> Chosen:
    """The words that are marked in the head of the page: those of the question, or else those that are chosen."""
    site = state.current().common.site
    return _marked(trace, site, _question(trace, site))


def begin(trace: "Trace", site: str) -> None:
    """Keep the cell of the words that a person has chosen, where they come from another attention or page, and the head
    that is open then: nothing else is proposed.
    """
    common, chosen = state.current().common, chosen_in(trace)
    if chosen[0] and (common.token, common.key_token) == (None, None):
        row, key = _cell(trace, site, chosen)
        # Other pages show them in the head that is open here.
        state.change(token=row, key_token=key, head_chosen=True)


def show(trace: "Trace", site: str, redraw: Callable[[], None]) -> None:
    """Which two words, and the heads with most weight from the one to the other, each a button that opens it.

    Args:
        trace, site: what is shown.
        redraw: called where a button leads to another attention, whose choice is outside of this part of the page.
    """
    question = _question(trace, site)
    names = None if question is None else question.names
    how = _PATCHES if trace.source.grid is not None else _WORDS if words.word_lines(trace) else _CELLS
    marks = _marked(trace, site, question)
    asked = LinkQuestion(marks, not any(chosen_in(trace)), names, _(how), words.heard())
    _QUESTION.show(asked, key="link-question")
    if question is None:
        return
    ranked = _ranked(trace, question.link)
    if question.link is None or not ranked:
        terms.caption(_why_none(trace, question))
        return
    with st.container(horizontal=True, gap="xsmall"):
        for rank, (weight, layer, head) in enumerate(ranked[:MOST]):
            # A key by rank: with other words the same button says another head.
            label = _button_label(question.link, weight, layer, head)
            st.button(label, key=f"linked-{rank}", on_click=_press, args=(trace, question, layer, head, redraw))
    if attention.can_ask_why(trace, models.reader(state.current().model)):
        link, row, key = question.link, question.link.rows[0], _without_sinks(trace, question.link).keys[0]
        why = [NamedHead(link.site, layer, head).link_to_why(row, key) for _weight, layer, head in ranked[:MOST]]
        terms.caption(_("Why? {heads}", heads=messages.with_commas(why)))
    if how_counted := messages.in_a_row([*_how(question, question.link), plain(row_said(trace, site))]):
        terms.caption(how_counted)


def _button_label(link: Link, weight: float, layer: int, head: int) -> str:
    name = head_label(layer, head, link.site)
    if models.taught_head(state.current().model, link.site) == (layer, head):
        name += f" · {_('taught')}"
    return f"{name} · {weight:.4f}"


def tile_metric(trace: "Trace", site: str) -> TileMetric | None:
    """The weight between the two words as the tiles of a site carry it; None where they do not meet there."""
    question = _question(trace, site)
    if question is None or question.link is None or question.link.site != site:
        return None
    looking, looked_at = question.names
    note = _("For each head, the weight from “{looking}” to “{looked_at}”.", looking=looking, looked_at=looked_at)
    return TileMetric(_("Weight"), texts.weights(trace, _without_sinks(trace, question.link)), 2, "", note)


def best(trace: "Trace", site: str) -> tuple[int, ...]:
    """The heads of a site that link the two words most, counted layer by layer, the first of them first."""
    question = _question(trace, site)
    if question is None or question.link is None or question.link.site != site:
        return ()
    heads = trace.heads_of(site)
    return tuple(layer * heads + head for _weight, layer, head in _ranked(trace, question.link)[:MOST])


def choose(trace: "Trace", chosen: Chosen) -> None:
    """Keep what a person has chosen: of one word its row, or its key; of two the cell that joins them. The head that is
    open stays open.
    """
    common = state.current().common
    open_head = common.site, common.layer, common.head
    if chosen[0] and not any(chosen_in(trace)):
        st.session_state[_BEFORE] = open_head, (common.token, common.key_token, common.head_chosen)
    row, key = _cell(trace, common.site, chosen)
    # A word that the open head does not know is chosen too: nothing else is proposed then.
    is_chosen = bool(chosen[0]) or common.head_chosen
    if not chosen[0] and _BEFORE in st.session_state:
        head_before, kept_before = st.session_state.pop(_BEFORE)
        if head_before == open_head:
            row, key, is_chosen = kept_before
    state.change(from_words=chosen[0], to_words=chosen[1], token=row, key_token=key, head_chosen=is_chosen)


def _cell(trace: "Trace", site: str, chosen: Chosen) -> tuple[int | None, int | None]:
    """The first cell of a site that joins chosen words; of one word, its first row, or else its first key."""
    looking, looked_at = chosen
    if not looking:
        return None, None
    if not looked_at:
        return texts.cell_of_word(trace, site, looking[0])
    link = texts.link(trace, looking, looked_at)
    return (link.rows[0], link.keys[0]) if link is not None and link.site == site else (None, None)


def _press(trace: "Trace", question: Question, layer: int, head: int, redraw: Callable[[], None]) -> None:
    """Open a head of the list, with the cell that joins the words."""
    before, link = state.current().common.site, question.link
    assert link is not None, "its heads are listed"
    looking, looked_at = question.words
    state.change(site=link.site, layer=layer, head=head, token=link.rows[0], key_token=link.keys[0])
    state.change(from_words=looking, to_words=looked_at)
    if link.site != before:
        redraw()


def _found(trace: "Trace") -> Chosen | None:
    """The words of the finding, of which a cell is one piece only, as long as a person has chosen nothing else."""
    link, common = finding.of(trace).link, state.current().common
    if link is None or common.head_chosen or (common.token, common.key_token) != (None, None) or any(chosen_in(trace)):
        return None
    chosen = _words_of_cell(trace, link.site, link.row, link.key)
    return chosen if all(chosen) else None


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
    clicked = chosen_in(trace)
    chosen = clicked if all(clicked) else _found(trace)
    if chosen is not None:
        looking, looked_at = (" + ".join(texts.name_of(trace, word) for word in side) for side in chosen)
        return Question(chosen, (looking, looked_at), texts.link(trace, *chosen))
    row, key = finding.kept(trace)
    if (asked := _of_area(trace, site, row)) is not None:
        return asked
    queries, keys = _axes(trace, site)
    at_row, at_key = None if row is None else queries.index_of(row), None if key is None else keys.index_of(key)
    if row is None or key is None or at_row is None or at_key is None:
        return None
    names = queries.labels[at_row], keys.labels[at_key]
    looking, looked_at = (display_token(name.replace("▁", "") or name) for name in names)
    link = Link(site, (queries.groups[at_row],), keys.groups[at_key])
    return Question(_words_of_cell(trace, site, row, key), (looking, looked_at), link)


def _of_area(trace: "Trace", site: str, row: int | None) -> Question | None:
    """From the kept row to the rectangle of the picture that a person drew."""
    patches = texts.patches_in(trace, state.current().attention.area)
    queries, _keys = attention.shown_axes(trace, site, picture_panel.view_of(site))
    at = None if row is None else queries.index_of(row)
    if at is None or row is None or not patches or site == DECODER:
        return None
    names = display_token(queries.labels[at].replace("▁", "")), _("the rectangle")
    return Question(
        _words_of_cell(trace, site, row, 0), names, Link(site, (queries.groups[at],), patches), len(patches)
    )


def _axes(trace: "Trace", site: str) -> tuple["Axis", "Axis"]:
    """The rows and the columns of the open head: words or tokens, sinks too."""
    view = MatrixView("weights", state.current().common.whole_words, sinks=True)
    return attention.shown_axes(trace, site, view)


def _ranked(trace: "Trace", link: Link | None) -> list[tuple[float, int, int]]:
    """Weight, layer and head, from the largest weight on; those without any weight are left out."""
    if link is None:
        return []
    link = _without_sinks(trace, link)
    found = [(float(w), layer, head) for (layer, head), w in np.ndenumerate(texts.weights(trace, link)) if w > 0]
    return sorted(found, key=lambda one: -one[0])


def _without_sinks(trace: "Trace", link: Link) -> Link:
    """The same without the keys that a person left out."""
    left_out = () if state.current().common.sinks else trace.sinks(link.site)
    return replace(link, keys=tuple(key for key in link.keys if key not in left_out))


def _why_none(trace: "Trace", question: Question) -> str:
    looking, looked_at = (plain(name) for name in question.names)
    if question.link is not None and not _without_sinks(trace, question.link).keys:
        return _("None: “{looked_at}” is a sink, and sinks are left out.", looked_at=looked_at)
    if question.link is not None:
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


def row_said(trace: "Trace", site: str) -> str:
    """Which row the open head shows of the words that look, where tokens are shown or several words are chosen."""
    row, is_whole = finding.kept(trace)[0], state.current().common.whole_words
    looking, _looked_at = _marked(trace, site, _question(trace, site))
    rows, _columns = _axes(trace, site)
    if row is None or not looking or (is_whole and len(looking) == 1) or (at := rows.index_of(row)) is None:
        return ""
    name, word = rows.labels[at], texts.name_of(trace, looking[0])
    is_part = not is_whole and len(texts.words(trace).groups[looking[0]]) > 1
    if len(looking) == 1:
        if is_part:
            return _("Row shown: {row}. Of “{word}”, only the first token is shown.", row=name, word=word)
        return _("Row shown: {row}.", row=name)
    if is_part:
        message = "Row shown: {row}, the first token of “{word}”, which is the first of the {count} words chosen."
        return _(message, row=name, word=word, count=len(looking))
    return _("Row shown: {row}, the first of the {count} words chosen.", row=name, count=len(looking))


def _how(question: Question, link: Link) -> list[str]:
    """How the tokens of words, and several words, were taken together."""
    sentences = []
    if question.patches:
        summed = plural(
            "The rectangle has {count} patch.",
            "The weights on the {count} patches of the rectangle are summed.",
            question.patches,
        )
        sentences.append(summed)
    elif max(map(len, question.words)) > 1:
        sentences.append(_("The weights of several words are summed."))
    elif len(link.rows) > 1 or len(link.keys) > 1:
        if state.current().common.whole_words:
            message = "For a word of several tokens, weights are summed over keys and averaged over queries."
        else:
            message = (
                "For a word of several tokens, weights are summed over keys and averaged over queries; the map has one "
                "cell per token."
            )
        sentences.append(_(message))
    return sentences
