"""Show what the head of a page offers: its link, undo, redo, help, a presentation with its steps; and the theme."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import streamlit as st

from viz.pictures.component import Component
from viz.pictures.payload import ANYTHING, Text, hear
from viz.text import glossary
from viz.text.messages import language
from viz.text.written import Site

_LINK: Final = Component("pictures/copy_link/copy_link.js", "pictures/copy_link/copy_link.css")
_TOOLS: Final = Component("pictures/head_tools/head_tools.js", "pictures/head_tools/head_tools.css")
_STEPS: Final = Component("pictures/present/present_steps.js", "pictures/present/present_steps.css")
_THEME: Final = Component("pictures/theme_choice/theme_choice.js", "pictures/theme_choice/theme_choice.css")
#: No model has so many layers, a layer so many heads, or a text that can be asked about so many tokens.
MOST: Final = 10_000
#: In the session: the buttons that were pressed last, and how many choices they have undone.
_HEARD: Final = "head-tools/heard"


@dataclass(frozen=True, slots=True)
class CopyLink:
    """A button that copies the address of what is shown."""

    #: parameters that the link has even where the address leaves them out, as they have their default value.
    always: Mapping[str, str]
    note: Text  #: what the link does not bring, said once it is copied
    paper: str  #: the background of saved pictures
    format: str  #: of the file that the camera of a chart saves


def copy_link(link: CopyLink) -> None:
    """Show the button, and tell the page how pictures are saved."""
    _LINK.show(link, key="copy-link", width="content")


@dataclass(frozen=True, slots=True)
class Undone:
    """How many choices the buttons of one page have undone in all (`total`), minus those done again."""

    name: Annotated[str, ANYTHING]
    total: Annotated[int, ANYTHING]

    def steps_since(self, heard: "Undone | None") -> int:
        """How many choices to undo (below 0: to do again) beyond those that were heard of."""
        return self.total - (heard.total if heard is not None and heard.name == self.name else 0)


@dataclass(frozen=True, slots=True)
class HeadPlace:
    """A head that a link names; layer and head count from 0, and need not exist."""

    site: Site
    layer: Annotated[int, range(MOST)]
    head: Annotated[int, range(MOST)]


@dataclass(frozen=True, slots=True)
class AskedPlace(HeadPlace):
    """A head that a link asks about, and perhaps a cell of it; row and key count from 0, and need not exist."""

    row: Annotated[int | None, range(MOST)]
    key: Annotated[int | None, range(MOST)]


@dataclass(frozen=True, slots=True)
class _Tools:
    is_presented: bool
    can_redo: bool
    heard: tuple[str, int] | None
    glossary: Mapping[str, object]


def head_tools(
    *,
    is_presented: bool,
    can_redo: bool,
    on_undo: Callable[[int], None],
    on_present: Callable[[bool], None],
    on_story: Callable[[], None],
    on_head: Callable[[HeadPlace], None],
    on_why: Callable[[AskedPlace], None],
) -> None:
    """Show the buttons; what is given is called before the next run. On a projector only the way back is offered.
    `can_redo`: whether a choice was undone, which can be made again.

    `on_undo` is called with how many choices to undo, below 0 to do again; `on_present` with whether to present the
    page; `on_head` with a head of which a link was pressed, `on_why` where the link asks why it looks where it looks.
    """
    heard: Undone | None = st.session_state.get(_HEARD)

    def undo(told: Undone) -> None:
        steps = told.steps_since(st.session_state.get(_HEARD))
        st.session_state[_HEARD] = told
        if steps:
            on_undo(steps)

    _TOOLS.show(
        _Tools(
            is_presented,
            can_redo,
            None if heard is None else (heard.name, heard.total),
            glossary.for_scripts(language()),
        ),
        key="head-tools",
        width="content",
        undo=hear(undo, Undone),
        present=hear(lambda number: on_present(number == 1), int, to=range(2)),
        head=hear(on_head, HeadPlace),
        why=hear(on_why, AskedPlace),
        story=lambda _value: on_story(),
    )


@dataclass(frozen=True, slots=True)
class _Nothing:
    """What needs nothing of Python."""


@dataclass(frozen=True, slots=True)
class _Steps:
    step: int
    count: int
    names: Annotated[tuple[str, ...], ANYTHING]
    notes: Annotated[tuple[str, ...], ANYTHING]


def present_steps(
    step: int, count: int, *, names: Sequence[str] = (), notes: Sequence[str] = (), on_step: Callable[[int], None]
) -> None:
    """Show the step, counted from 0, of a presentation; `on_step` is called before the next run, with another one.

    `names`, `notes`: what each step is called, and what the presenter's window, and no other, shows of it.
    """
    _STEPS.show(
        _Steps(step, count, tuple(names), tuple(notes)), key="present-steps", step=hear(on_step, int, to=range(count))
    )


def theme_choice() -> None:
    """Show the choice of the theme, which the browser makes and keeps."""
    _THEME.show(_Nothing(), key="theme-choice")
