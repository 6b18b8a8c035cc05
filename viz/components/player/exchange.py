"""Let a page and a player that the browser moves agree on where it stands, without one undoing what the other did."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from viz.core.widget_values import sent

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
        return {"number": self.number, **asdict(self.state)}  # type: ignore[call-overload]

    def is_answered_by(self, value: object) -> bool:
        """Whether the browser reported this after it had obeyed the command, of the film that it was about."""
        answered = (self.digest, self.number)
        return isinstance(value, Mapping) and (value.get("digest"), value.get("command")) == answered


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


def last_exchange(key: str) -> Exchange[Any] | None:
    """What page and player last said to each other; None before the first time."""
    exchange: Exchange[Any] | None = st.session_state.get(f"{key}/exchange")
    return exchange


def converse(
    show: Callable[[Exchange[State] | None, object], tuple[Any, Command[State]]],
    read: Callable[[object, Command[State]], State | None],
    asked: State,
    *,
    key: str,
) -> State | None:
    """Show a player; return its state once a person has changed it.

    Args:
        show: draws the component for what was said last and what the browser reported before this run; what it returns
            is the component's result, and the command that it was sent.
        read: the state that the browser reports, if it answers this command and names what exists.
        asked: where the page wants the player, all of which exists.
        key: of the component.
    """
    is_alive = key in st.session_state
    last: Exchange[State] | None = last_exchange(key)
    if last is not None and not is_alive:
        # Streamlit forgets a component that a run leaves out. Its successor has no state, so whatever the page asks
        # is news; the number goes on, because the browser remembers the ones it has obeyed.
        last = Exchange(last.command, None, None)
    result, command = show(last, sent(key, "view") if is_alive else None)
    reported = read(result.view, command)
    st.session_state[f"{key}/exchange"] = Exchange(command, asked, reported)
    return reported
