"""Explain each term of the glossary once a page: in the first text that has it, of all that pages show."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal

import streamlit as st

from viz.text import glossary

#: In the session: a term that the page has explained → the part of the page whose text did, "" outside of parts.
_EXPLAINED: Final = "terms/explained"
_PART: ContextVar[str] = ContextVar("part", default="")


def explained(text: str) -> str:
    """Markdown whose terms are links to what they mean, but for those that a text above it has explained already."""
    known: dict[str, str] = st.session_state.setdefault(_EXPLAINED, {})
    linked, found = glossary.explained(text, known)
    known.update(dict.fromkeys(found, _PART.get()))
    return linked


def caption(text: str, *, width: Literal["stretch", "content"] = "stretch", help: str | None = None) -> None:
    """Show Markdown in small print, its terms explained; arguments as of Streamlit."""
    st.caption(explained(text), width=width, help=help)


def markdown(text: str, *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show Markdown, its terms explained; arguments as of Streamlit."""
    st.markdown(explained(text), width=width)


@contextmanager
def part(key: str) -> Iterator[None]:
    """Within this block a part of the page is drawn that reruns alone; then what it explained it may explain again."""
    known: dict[str, str] = st.session_state.get(_EXPLAINED, {})
    st.session_state[_EXPLAINED] = {term: of for term, of in known.items() if of != key}
    before = _PART.set(key)
    try:
        yield
    finally:
        _PART.reset(before)


def begin_page() -> None:
    """Nothing has been explained yet: called before a page is drawn."""
    st.session_state[_EXPLAINED] = {}
