"""The tab Why: a question about one cell, the parts that answer it, and what each part read, step by step to words."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import TraceError
from viz.access import models
from viz.pages.attention import circuits, data
from viz.pages.attention.why import all_parts, picture, testing
from viz.pages.attention.why.asked import asked_cell
from viz.pages.attention.why.drawn import COMPONENT, NOT_PROVEN, Drawn, testable, with_tests
from viz.pages.attention.why.payload import Codes, Twin
from viz.pictures.payload import hear
from viz.selection import state
from viz.text.messages import _, shown
from viz.ui import frame, present, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace

#: The key of what unfolds below the question.
BY_TOKENS: Final = "by-tokens"
#: Where a session keeps the cell that was asked about last, and its trail.
_BEFORE: Final = "why: asked before"


@frame.fragment
def show(trace: "Trace") -> None:
    """The question, what answers it, and below it what the head does by tokens alone."""
    with frame.errors_shown():
        try:
            if not frame.lacking(models.abilities(state.current().model), "reasons"):
                _answer(trace)
                terms.caption(shown(NOT_PROVEN))
        except TraceError as error:
            st.info(plain(error.message), icon=":material/info:")
    frame.unfolding(_("From tokens alone: QK and OV"), BY_TOKENS, circuits.show, trace)


def _answer(trace: "Trace") -> None:
    data.check_length(trace)
    reader = models.text_reader(state.current().model)
    _let_go(asked_cell(trace, reader))
    asked = asked_cell(trace, reader)
    codes = state.current().attention.trail
    with frame.loading(_("Splitting the score …")):
        trail = data.trail(reader, trace, asked, codes)
        ahead = data.ahead(reader, trace, asked, trail.codes)
    if trail.refused is not None:
        frame.note("The trail cannot be followed further. {why}", why=shown(trail.refused))
    there = data.twin_trace(reader, trace, asked.twin) if asked.twin else None
    drawn = Drawn(trace, there, asked, trail, ahead)
    # Presented, the question is one screen, and its trail another.
    screen = present.steps(2, "screen")
    page, place = drawn.page(), st.container()
    # What is computed for longer shows its progress below.
    products, tests = testing.products(reader, trace, asked, testable(page)), testing.run(reader, trace, asked)
    if screen and present.is_on():
        picture.show(picture.draw(drawn.names, there, ahead, trail.codes, tests.found), _go)
        return
    with place:
        COMPONENT.show(
            replace(with_tests(page, products, tests.found, tests.intact), runs=True),
            key="why",
            trail=hear(_go, Codes),
            rival=hear(lambda key: state.choose(rival_key=key, trail=()), int, key=data.positions(trace)),
            twin=hear(lambda told: _take_twin(told.of(trace.text), asked), Twin),
            test=hear(lambda told: tests.ask(told.codes), Codes),
        )
    if present.is_on():
        return
    picture.show(picture.draw(drawn.names, there, ahead, trail.codes, tests.found), _go)
    frame.unfolding(_("All parts"), "all-parts", all_parts.show, trace, asked)


def _let_go(asked: data.Asked) -> None:
    """Let go of a trail that belongs to the cell that was asked about before, and was not asked for of this one.

    One that a pin or an address brings is asked for, even where the pin before has its like.
    """
    trail = state.current().attention.trail
    before = st.session_state.get(_BEFORE)
    cell = (asked.site, asked.layer, asked.head, asked.row, asked.key)
    # By identity: a choice of something else keeps the object, a pin or an address makes a new one.
    if trail and before is not None and before[0] != cell and before[1] is trail:
        trail = ()
        state.change(trail=(), rival_key=None)
    st.session_state[_BEFORE] = (cell, trail)


def _go(told: Codes) -> None:
    state.choose(trail=told.trail)


def _take_twin(text: str, asked: data.Asked) -> None:
    # What is asked stays, whatever cell is the most telling one with this twin.
    state.change(site=asked.site, layer=asked.layer, head=asked.head, head_chosen=True)
    state.change(token=asked.row, key_token=asked.key)
    if not text:
        state.choose(without_twin=True)
    else:
        state.choose(other_text=text)
        state.change(without_twin=False)
