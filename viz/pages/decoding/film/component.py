"""A decoding that can be stepped through in the browser: prefix, candidates, and the new row of every head.

The whole decoding is sent once; stepping and every choice happen in `decode_player.js`, which then reports its step and
choices, so that a URL can follow, and what a person wants written instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from viz.components.declare import declare
from viz.components.player.exchange import Command, Exchange, converse, last_exchange, next_command
from viz.core import payload as wire
from viz.core.messages import _
from viz.core.widget_values import sent
from viz.pages.decoding.film.payload import MOST_CANDIDATES, PlayerData

_COMPONENT = declare("pages/decoding/film/decode_player.js", "pages/decoding/film/film.css")
#: The ranges of what is in hundredths.
TEMPERATURES: Final = (10, 500)
TOP_P: Final = (1, 100)
#: Titles of the heads of both attentions, layer by layer.
HeadNames = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class PlayerState:
    """What the player shows. Step, layer and heads count from 0.

    Attributes:
        layer, head, also: the open head, and further heads of its layer that are drawn with it.
        candidates: how many are listed.
        temperature, top_k, top_p: the filter that is tried; hundredths, and 0 for no top k.
    """

    step: int
    layer: int = 0
    head: int = 0
    also: tuple[int, ...] = ()
    candidates: int = 10
    temperature: int = 100
    top_k: int = 0
    top_p: int = 100


@dataclass(frozen=True)
class Force:
    """A person wants this token to be written at this step."""

    step: int
    token_id: int


@dataclass(frozen=True)
class Draw:
    """A person wants this step's token to be drawn; numbers as in `PlayerState`."""

    step: int
    temperature: int
    top_k: int
    top_p: int


@dataclass(frozen=True)
class Wished:
    """What a person wishes written instead, and what the player showed then."""

    wish: Force | Draw
    state: PlayerState | None


def read_state(value: object, data: PlayerData, command: Command[PlayerState]) -> PlayerState | None:
    """What the browser reported, if it has obeyed `command` and all that it names exists."""
    if not isinstance(value, Mapping) or not command.is_answered_by(value):
        return None
    numbers = [value.get(name) for name in ("step", "layer", "head", "candidates", "temperature", "top_k", "top_p")]
    also = value.get("also")
    if not isinstance(also, list) or {type(number) for number in (*numbers, *also)} != {int}:
        return None
    step, layer, head, candidates, temperature, top_k, top_p = numbers
    state = PlayerState(step, layer, head, tuple(also), candidates, temperature, top_k, top_p)  # type: ignore[arg-type]
    return state if state == clamp(state, data) else None


def read_wish(value: object, data: PlayerData) -> Force | Draw | None:
    """What a person wants written instead, if it is of this decoding, of a step that exists, and possible there."""
    if not isinstance(value, Mapping) or value.get("digest") != data.digest:
        return None
    step, token_id = value.get("step"), value.get("token_id")
    if type(step) is not int or not 0 <= step < len(data.steps):
        return None
    if value.get("kind") == "force":
        known = [candidate.token_id for candidate in data.steps[step].candidates]
        return Force(step, token_id) if type(token_id) is int and token_id in known else None
    temperature, top_k, top_p = (value.get(name) for name in ("temperature", "top_k", "top_p"))
    if type(temperature) is int and type(top_k) is int and type(top_p) is int:
        tried = PlayerState(step, temperature=temperature, top_k=top_k, top_p=top_p)
        return Draw(step, temperature, top_k, top_p) if tried == clamp(tried, data) else None
    return None


def clamp(state: PlayerState, data: PlayerData) -> PlayerState:
    """The nearest state that exists: a URL may have been written for another sentence or model."""
    head = _within(state.head, 0, data.heads - 1)
    return PlayerState(
        step=_within(state.step, 0, len(data.steps) - 1),
        layer=_within(state.layer, 0, data.layers - 1),
        head=head,
        also=tuple(dict.fromkeys(other for other in state.also if 0 <= other < data.heads and other != head)),
        candidates=_within(state.candidates, 1, MOST_CANDIDATES),
        temperature=_within(state.temperature, *TEMPERATURES),
        top_k=_within(state.top_k, 0, data.vocab_size),
        top_p=_within(state.top_p, *TOP_P),
    )


def pack_player(
    data: PlayerData,
    last: Exchange[PlayerState] | None,
    asked: PlayerState,
    value: object,
    name: str,
    note: str = "",
    head_names: HeadNames = ((), ()),
) -> tuple[bytes, Command[PlayerState]]:
    """The payload of `decode_player.js` and the command in it; `value` is what the browser reported before this run."""
    reported = None if last is None else read_state(value, data, last.command)
    command = next_command(last, asked, reported, data.digest)
    header = data.header | {"digest": data.digest, "name": name, "note": note, "command": command.packed()}
    header |= {"headNames": head_names, "titles": [title and _(title) for title in data.titles]}
    return wire.pack(header, *data.deflated), command


def wished(data: PlayerData, *, key: str) -> Wished | None:
    """What a person wishes of the decoding drawn last, known before the player is drawn, which ends it."""
    last = last_exchange(key)
    wish = read_wish(st.session_state.get(_wish_key(key)), data)
    return None if wish is None or last is None else Wished(wish, read_state(sent(key, "view"), data, last.command))


def decode_player(
    data: PlayerData, state: PlayerState, *, key: str, name: str, note: str = "", head_names: HeadNames = ((), ())
) -> PlayerState | None:
    """Show a decoding; return the player's state once a person has changed it. What they wish says `wished`.

    What is returned may be handed in again in the next run, through the URL or otherwise. What does not exist in a
    `state` is replaced by the nearest that does, which is then returned. `name` is that of saved pictures, without step
    and ending; `note` stands below the candidates; `head_names` are the titles of the heads where they have longer ones
    than "L4 H2".
    """
    asked = clamp(state, data)

    def show(last: Exchange[PlayerState] | None, value: object) -> tuple[Any, Command[PlayerState]]:
        payload, command = pack_player(data, last, asked, value, name, note, head_names)
        return _COMPONENT(data=payload, key=key, on_view_change=_nothing, on_wish_change=take), command

    def take() -> None:
        # Kept until it is done: a run that another cuts short knew of it and did nothing.
        st.session_state[_wish_key(key)] = sent(key, "wish")

    st.session_state.pop(_wish_key(key), None)
    reported = converse(show, partial(_read, data), asked, key=key)
    return asked if reported is None and asked != state else reported


def _read(data: PlayerData, value: object, command: Command[PlayerState]) -> PlayerState | None:
    return read_state(value, data, command)


def _within(number: int, low: int, high: int) -> int:
    return min(max(number, low), high)


def _wish_key(key: str) -> str:
    return f"{key}/wish"


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
