"""A decoding that can be stepped through in the browser: prefix, candidates, and the new row of every head.

The whole decoding is sent once; stepping and every choice happen in `decode_player.js`, which then reports its step and
choices, so that a URL can follow, and what a person wants written instead.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import streamlit as st

from viz.pages.decoding.film.payload import MOST_CANDIDATES, PlayerData
from viz.pictures.component import Component
from viz.pictures.payload import ANYTHING, read
from viz.pictures.player.exchange import play, reported_state

COMPONENT: Final = Component("pages/decoding/film/decode_player.js", "pages/decoding/film/film.css")
#: Ranges of numbers in hundredths, and of the candidates that are listed.
TEMPERATURES: Final = range(10, 501)
TOP_P: Final = range(1, 101)
CANDIDATES: Final = range(1, MOST_CANDIDATES + 1)
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
    candidates: Annotated[int, CANDIDATES] = 10
    temperature: Annotated[int, TEMPERATURES] = 100
    top_k: int = 0
    top_p: Annotated[int, TOP_P] = 100


@dataclass(frozen=True)
class Force:
    """A person wants this token to be written at this step."""

    step: int
    token_id: Annotated[int, ANYTHING]


@dataclass(frozen=True)
class Draw:
    """A person wants this step's token to be drawn; numbers as in `PlayerState`."""

    step: int
    temperature: Annotated[int, TEMPERATURES]
    top_k: int
    top_p: Annotated[int, TOP_P]


@dataclass(frozen=True)
class Wished:
    """What a person wishes written instead, and what the player showed then."""

    wish: Force | Draw
    state: PlayerState | None


def read_state(data: PlayerData, value: object) -> PlayerState | None:
    """What the browser reported, if all that it names exists."""
    heads = range(data.heads)
    state = read(
        PlayerState,
        value,
        step=range(len(data.steps)),
        layer=range(data.layers),
        head=heads,
        also=heads,
        top_k=range(data.vocab_size + 1),
    )
    return state if state is not None and state == clamp(state, data) else None


def read_wish(value: object, data: PlayerData) -> Force | Draw | None:
    """What a person wants written instead, if it is of this decoding, of a step that exists, and possible there."""
    step = range(len(data.steps))
    force = read(Force, value, {"digest": data.digest, "kind": "force"}, step=step)
    if force is not None:
        known = [candidate.token_id for candidate in data.steps[force.step].candidates]
        return force if force.token_id in known else None
    drawn = {"digest": data.digest, "kind": "draw"}
    return read(Draw, value, drawn, step=step, top_k=range(data.vocab_size + 1))


def clamp(state: PlayerState, data: PlayerData) -> PlayerState:
    """The nearest state that exists: a URL may have been written for another sentence or model."""
    head = _within(state.head, range(data.heads))
    return PlayerState(
        step=_within(state.step, range(len(data.steps))),
        layer=_within(state.layer, range(data.layers)),
        head=head,
        also=tuple(dict.fromkeys(other for other in state.also if 0 <= other < data.heads and other != head)),
        candidates=_within(state.candidates, CANDIDATES),
        temperature=_within(state.temperature, TEMPERATURES),
        top_k=_within(state.top_k, range(data.vocab_size + 1)),
        top_p=_within(state.top_p, TOP_P),
    )


def wished(data: PlayerData, *, key: str) -> Wished | None:
    """What a person wishes of the decoding drawn last, known before the player is drawn, which ends it."""
    wish = read_wish(st.session_state.get(_wish_key(key)), data)
    return None if wish is None else Wished(wish, reported_state(partial(read_state, data), key))


def decode_player(
    data: PlayerData, state: PlayerState, *, key: str, name: str, note: str = "", head_names: HeadNames = ((), ())
) -> PlayerState | None:
    """Show a decoding; return the player's state once a person has changed it. What they wish says `wished`.

    What is returned may be handed in again in the next run, through the URL or otherwise. What does not exist in a
    `state` is replaced by the nearest that does, which is then returned.

    Args:
        data: the decoding.
        state: where the page wants the player.
        key: of the component.
        name: of saved pictures, without step and ending.
        note: below the candidates.
        head_names: the titles of the heads where they have longer ones than "L4 H2".
    """
    asked = clamp(state, data)

    def take(wish: object) -> None:
        # Kept until it is done: a run that another cuts short knew of it and did nothing.
        st.session_state[_wish_key(key)] = wish

    st.session_state.pop(_wish_key(key), None)
    more = {"name": name, "note": note, "head_names": head_names}
    read_own = partial(read_state, data)
    reported = play(COMPONENT, data, asked=asked, read=read_own, digest=data.digest, key=key, more=more, wish=take)
    return asked if reported is None and asked != state else reported


def _within(number: int, existing: range) -> int:
    return min(max(number, existing[0]), existing[-1])


def _wish_key(key: str) -> str:
    return f"{key}/wish"
