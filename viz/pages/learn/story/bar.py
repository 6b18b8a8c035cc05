"""The bar of the story "Start here": a slim line below the head of the page that a step is about.

A step is that of a lesson (`viz.pages.learn.lessons.lesson`): a view computes the numbers of its sentence. The file
also says where it is seen: a page, the choices there, and the part of the page that is ringed. The step is part of the
address. That a person has closed the bar is kept by the browser, in a cookie, so that the first run knows it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.pages.learn.lessons import data, tab
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import Found, Lesson, filled_plainly, holds, read
from viz.pages.learn.lessons.pictures import FullPage
from viz.pictures.component import Component
from viz.pictures.payload import ANYTHING, hear
from viz.selection import catalogue, state
from viz.selection.choices import Device, ModelChoice
from viz.selection.selection import PAGES, SECTIONS
from viz.server.caches import cached
from viz.text.messages import _, said
from viz.ui import present, sidebar

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_BAR: Final = Component("pages/learn/story/story_bar.js", "pages/learn/story/story_bar.css")
#: The page around the bar, and what it rings.
_RULES: Final = Path(__file__).with_name("story_page.css").read_text(encoding="utf-8")
_FILE: Final = Path(__file__).with_name("story.toml")
_RING: Final = "outline: 3px solid var(--ring); outline-offset: 3px; border-radius: 6px; scroll-margin: 10rem 0;"
#: What the bar says where another view is open than its step's.
_ELSEWHERE: Final = said("You have changed the view of this step.")
#: Where the story ends; the last one only where a person may add a model.
_ENDS: Final = ("learn", "explore", "model")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the bar is drawn from."""

    step: int  #: counted from 1
    titles: Annotated[tuple[str, ...], ANYTHING]  #: of all steps
    parts: Annotated[tuple[str, ...], ANYTHING]  #: the sentence, by turns plain words and words that stand out
    is_seen: bool  #: whether the page shows what the sentence speaks of
    ring: str  #: a selector of what is ringed
    model: str  #: the name of the model that the story is about; "" where it is open
    ends: tuple[str, ...]  #: where the last step leads


@cache
def story() -> Lesson:
    """The story, whose file reads as a lesson's."""
    return read(_FILE)


def show(room: "DeltaGenerator") -> None:
    """Show the bar in its room, on the page and tab of its step; called at the end of a run."""
    number = min(state.current().common.story, len(story().steps))
    is_asked = present.asks_for_story()
    if not models.is_english_german(ModelChoice()):
        state.change(story=0)
        if is_asked:
            st.toast(_("The tour needs an English-to-German translator as the first model on the server's list."))
        return
    if is_asked:
        _go(number)
    if present.is_on() or not _is_on_page(number):
        return
    shown, name = story().steps[number - 1].shown, models.name_of(ModelChoice())
    is_open, is_seen = models.name_of(state.current().model) == name, _is_seen(number)
    ring = f"{shown['ring']} {{ {_RING} }}" if is_seen else ""
    bar = _Shown(
        step=number,
        titles=tuple(_(step.title) for step in story().steps),
        parts=tuple(sentence(number, state.current().model.device).split("**")) if is_seen else (_(_ELSEWHERE),),
        is_seen=is_seen,
        ring=shown["ring"],
        model="" if is_open else name,
        ends=_ENDS if catalogue.can_add() else _ENDS[:-1],
    )
    with room:
        st.html(f"<style>{_RULES}\n{ring}</style>")
        steps = range(len(story().steps) + 1)
        _BAR.show(bar, key="story-bar", go=hear(_go, int, to=steps), end=hear(_end, int, to=range(len(bar.ends))))


def _is_on_page(number: int) -> bool:
    shown = story().steps[number - 1].shown
    field = PAGES[shown["page"]].tab
    open_view = SECTIONS[state.page()], state.current().value(field)
    return open_view == (shown["page"], shown["choices"][field])


def _is_seen(number: int) -> bool:
    """Whether all is chosen that the step is about; of the last, whose sentence is a person's own, no text is."""
    chosen, choices = state.current(), story().steps[number - 1].shown["choices"]
    is_open = models.name_of(chosen.model) == models.name_of(ModelChoice())
    return is_open and all(chosen.value(name) == value for name, value in choices.items())


def sentence(number: int, device: Device = "auto") -> str:
    """What a step says, filled in by the model that ships; what that does not bear out is said instead."""
    step, choice = story().steps[number - 1], ModelChoice(models.name_of(ModelChoice()), device)
    try:
        found = _found(Shipped(choice, models.translator(choice)), number)
    except HeadlightError as error:
        return _(error.message)
    if failing := [claim for claim in step.claims if not holds(claim, found)]:
        return _("This model does not confirm the claims of this step: {claims}.", claims=_("; ").join(failing))
    return filled_plainly(step.text, found)


@cached(max_entries=16)
def _found(shipped: Shipped, number: int) -> Found:
    return data.view(shipped, story(), number).found


def _go(number: int) -> None:
    """Open a step on its page, or close the bar."""
    state.change(story=number)
    if number:
        shown = story().steps[number - 1].shown
        tab.open_full_page(FullPage(shown["page"], shown["choices"]))
    else:
        st.toast(_("You can open the tour again with “?” at the top of a page."))


def _end(index: int) -> None:
    """Close the bar, and go where a person wants to go on."""
    state.change(story=0)
    if _ENDS[index] == "learn":
        tab.open_full_page(FullPage("learn", {"learn_tab": "Lessons"}))
    elif _ENDS[index] == "model":
        sidebar.unfold()
