"""The part below a step of a lesson in which a person explores its topic, computed only while it is unfolded."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.learn.explore import TOPICS
from viz.selection import catalogue, state
from viz.text.messages import _
from viz.ui import finding, frame, sentence
from viz.ui.controls import plain

if TYPE_CHECKING:
    from types import ModuleType

    from model import Trace
    from viz.ui.snippets import Snippet

#: Characters of a text that the line above a topic quotes.
MAX_QUOTED: Final = 80
#: In the session: the topic whose part was drawn last.
_DRAWN: Final = "explore/topic"


def show(name: str) -> None:
    """The part of a topic; what goes wrong within is said there."""
    label = _("Explore: {topic}", topic=_(TOPICS[name].label))
    # Another label is another widget to the browser, which does not know yet whether it is unfolded.
    key = state.bind("explore", always=st.session_state.get(_DRAWN) != name)
    st.session_state[_DRAWN] = name
    with st.expander(label, icon=":material/explore:", key=key, on_change=state.take, args=("explore",)) as part:
        if part.open:
            with frame.errors_shown():
                _draw(name)


def _draw(name: str) -> None:
    if not TOPICS[name].is_of_text:
        _module(name).show()
        return
    trace = sentence.read(state.current().common.text, key="explore")
    finding.open_on_finding(trace)
    text = sentence.lines_of(trace)[0].text
    frame.caption(
        "These numbers are about **{model}** and “{text}”. Choose another model or sentence on the left.",
        model=plain(catalogue.label(models.name_of(state.current().model))),
        text=plain(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …"),
    )
    sentence.show_cautions(trace, st.container())
    _module(name).show(trace)


def python(name: str, trace: "Trace") -> "Snippet":
    """The Python that gives what a topic shows."""
    snippet: Snippet = _module(name).python(*([trace] if TOPICS[name].is_of_text else []))
    return snippet


def _module(name: str) -> "ModuleType":
    return import_module(f".{name}", __package__)
