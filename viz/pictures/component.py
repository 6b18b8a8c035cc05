"""A component that the browser draws: declared by the ES module of its script, shown with a dataclass.

A page and a player that the browser moves agree on where it stands, without one undoing what the other did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.pictures import payload
from viz.server import scripts
from viz.server.opening_page import first_picture
from viz.server.widgets import sent


def ignore(value: object) -> None:
    """Do nothing. Streamlit keeps a state only if a callback is registered for it."""


class Component:
    """A component by its script, whose class names the element that it draws into: `head_grid.js` into `.head-grid`.

    Script and style sheet are paths in `viz`; without a style sheet the component shows nothing and is hidden.
    """

    def __init__(self, script: str, style: str | None = None) -> None:
        self.script, self.style = script, style
        name = PurePosixPath(script).stem
        self.element = name.replace("_", "-")
        hidden = " hidden" if style is None else ""
        self._css = None if style is None else scripts.styles(style)
        self._renderer = st.components.v2.component(
            f"headlight_{name}",
            html=f'<div class="{self.element}"{hidden}></div>',
            css=self._css,
            js=scripts.script(script),
        )

    def show(
        self,
        content: object,
        *arrays: NDArray[np.generic],
        key: str,
        width: Any = "stretch",
        more: Mapping[str, object] | None = None,
        **answers: Callable[[object], None],
    ) -> Any:
        """Show the component, as `payload.pack` packs it, with the texts of its script in the language of the page run.

        `answers`: by the name of a trigger or a state, what is called before the next run with what the browser says.
        Returns what Streamlit's component returns.
        """
        packed = payload.pack(content, *arrays, **(more or {}))
        data = payload.with_language(packed, scripts.language_of(self.script))
        first_picture.draw(key, first_picture.Part(self.script, self._css or "", self.element, data))
        callbacks: dict[str, Any] = {
            f"on_{name}_change": partial(_answer, take, key, name) for name, take in answers.items()
        }
        return self._renderer(
            data=data, key=key, width=width, height=1 if self.style is None else "content", **callbacks
        )


def _answer(take: Callable[[object], None], key: str, name: str) -> None:
    take(sent(key, name))


#: A frozen dataclass of plain values, all that a player can be set to.
State = TypeVar("State")


@dataclass(frozen=True)
class Command(Generic[State]):
    """A state the player is set to. It obeys each `number` once, so that sending it again changes nothing."""

    number: int
    state: State
    digest: str

    def packed(self) -> dict[str, object]:
        """As `player_view.js` reads it."""
        return {"number": self.number, **payload.encoded(self.state)}

    def is_answered_by(self, value: object) -> bool:
        """Whether the browser reported this after it had obeyed the command, of the film that it was about."""
        answered = (self.digest, self.number)
        return isinstance(value, Mapping) and (value.get("digest"), value.get("command")) == answered

    def answer(self, value: object, read: Callable[[object], State | None]) -> State | None:
        """What `read` makes of the browser's report, if that answers this command."""
        return read(value) if self.is_answered_by(value) else None


def begun(content: object, state: object, number: int = 1, **more: object) -> bytes:
    """The payload of a player that no page answers; of several that one player is shown each has another `number`."""
    digest = payload.digest(content)
    return payload.pack(content, digest=digest, command=Command(number, state, digest).packed(), **more)


@dataclass(frozen=True)
class Exchange(Generic[State]):
    """What page and player last said to each other; kept in the session between two runs."""

    command: Command[State]
    asked: State | None
    reported: State | None


def next_command(last: Exchange[State] | None, asked: State, reported: State | None, digest: str) -> Command[State]:
    """The last command again, unless the page really asks for something new.

    A page that follows the player through the URL asks for what the player itself reported, possibly one run late. To
    obey that would throw a person who went on stepping back to where they were. So a wish counts only if the page did
    not have it in the run before and the player did not report it. Another film always counts.
    """
    if last is None:
        return Command(1, asked, digest)
    is_echo = asked in (last.asked, last.reported, reported)
    if is_echo and last.command.digest == digest:
        return last.command
    return Command(last.command.number + 1, asked, digest)


def reported_state(read: Callable[[object], State | None], key: str) -> State | None:
    """What the player with this key reports, if it has obeyed its last command and `read` takes it."""
    last: Exchange[State] | None = st.session_state.get(f"{key}/exchange")
    return None if last is None else last.command.answer(sent(key, "view"), read)


def play(
    component: Component,
    content: object,
    *arrays: NDArray[np.generic],
    asked: State,
    read: Callable[[object], State | None],
    digest: str,
    key: str,
    more: Mapping[str, object] | None = None,
    on_report: Callable[[State], object] = ignore,
    **answers: Callable[[object], None],
) -> State | None:
    """Show a player where the page wants it (all of which exists); return its state once a person has changed it.

    `read` takes what the browser reports, if that names what exists in the film of this digest; `on_report` is called
    with it before the next run. All else is as of `Component.show`.
    """

    def report(value: object) -> None:
        said: Exchange[State] | None = st.session_state.get(f"{key}/exchange")
        if said is not None and (state := said.command.answer(value, read)) is not None:
            on_report(state)

    last: Exchange[State] | None = st.session_state.get(f"{key}/exchange")
    before = reported_state(read, key)
    if last is not None and key not in st.session_state:
        # Streamlit forgets a component that a run leaves out. Its successor has no state, so whatever the page asks
        # is news; the number goes on, because the browser remembers the ones it has obeyed.
        last = Exchange(last.command, None, None)
    command = next_command(last, asked, before, digest)
    given = {**(more or {}), "digest": digest, "command": command.packed()}
    view: Any = component.show(content, *arrays, key=key, more=given, view=report, **answers).view
    reported = command.answer(view, read)
    st.session_state[f"{key}/exchange"] = Exchange(command, asked, reported)
    return reported
