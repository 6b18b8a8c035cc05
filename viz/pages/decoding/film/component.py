"""A decoding that can be stepped through in the browser: prefix, candidates, and the new row of every head.

The whole decoding is sent once; stepping and every choice happen in `decode_player.js`, which then reports its step and
choices, so that a URL can follow, and what a person wants written instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float
from numpy.typing import NDArray

from viz import theme
from viz.pages.decoding.film.lane import Lane
from viz.pictures import focus, payload
from viz.pictures.component import Component, play, reported_state
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import ANYTHING, LOCAL, LogProb, Text, Token, Tokens, read
from viz.pictures.source_picture import SourcePicture
from viz.pictures.tiles.codes import CellCode, code
from viz.text.messages import said
from viz.text.written import CROSS

COMPONENT: Final = Component("pages/decoding/film/decode_player.js", "pages/decoding/film/film.css")
#: Ranges of numbers in hundredths, and of the candidates that are listed.
TEMPERATURES: Final = range(10, 501)
TOP_P: Final = range(1, 101)
#: The most candidates of a step that can be shown.
MOST_CANDIDATES: Final = 20
CANDIDATES: Final = range(1, MOST_CANDIDATES + 1)
_NO_SAMPLES: Final = np.zeros(0, np.int16)
#: Titles of the heads of both attentions, layer by layer.
HeadNames = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class PlayerState:
    """What the player shows. Step, layer and heads count from 0."""

    step: int
    #: layer, head, also: the open head, and further heads of its layer that are drawn with it.
    layer: int = 0
    head: int = 0
    also: tuple[int, ...] = ()
    candidates: Annotated[int, CANDIDATES] = 10  #: how many are listed
    #: temperature, top_k, top_p: the filter that is tried; hundredths, and 0 for no top k.
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


#: What the two attentions of a translator are called, and the two parts of a row of a decoder alone.
TWO_ATTENTIONS: Final[tuple[str, str]] = (
    said("Cross-attention to the source"),
    said("Self-attention to the tokens read so far"),
)
#: A decoder that attends to its source alone has no second one.
SOURCE_ALONE: Final[tuple[str, str]] = (TWO_ATTENTIONS[0], "")
ONE_ATTENTION: Final[tuple[str, str]] = (said("Attention to the text"), said("Attention to the output so far"))


@dataclass(frozen=True)
class PlayerCandidate:
    """A token a step could have taken, and its natural log-probability."""

    token_id: int
    token: Token
    log_prob: float


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerSpread:
    """The distribution of each step, as `model.trace.steps` describes it."""

    best: Float[np.ndarray, "step best"]
    counts: Float[np.ndarray, "step bin"]
    centres: Float[np.ndarray, "step bin"]
    vocab_size: int


def _listed(candidates: Sequence[PlayerCandidate]) -> list[list[object]]:
    return [[*payload.encoded(candidate).values()] for candidate in candidates]


@dataclass(frozen=True)
class PlayerStep:
    """One step: the token taken, its log-probability, the entropy of the distribution (both in nats), the candidates.

    `rank` is that of the token taken among the whole vocabulary, 1 for the best.
    """

    token_id: Annotated[int, LOCAL]
    token: Token
    log_prob: LogProb
    entropy: float
    rank: int
    candidates: Annotated[tuple[PlayerCandidate, ...], _listed]

    @property
    def chosen(self) -> int | None:
        """The index of the token taken among the candidates; None if it is not one of them (it was forced or drawn)."""
        ids = [candidate.token_id for candidate in self.candidates]
        return ids.index(self.token_id) if self.token_id in ids else None

    def derived(self) -> dict[str, object]:
        """Which candidate was taken."""
        return {"chosen": self.chosen}


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerData(CellCode):
    """A finished decoding, to be sent. Row t of both attentions reads `target_tokens[t]` and writes `steps[t]`."""

    source_tokens: Tokens
    target_tokens: Tokens
    steps: tuple[PlayerStep, ...]
    layers: int
    heads: int
    vocab_size: int
    #: num_best, num_bins: of each distribution, its best log-probabilities and the bins of the others.
    num_best: int
    num_bins: int
    titles: tuple[Text, Text]  #: of both attentions
    axes: tuple[FocusAxis, FocusAxis, FocusAxis]  #: what rows stand for as queries, and the keys of both attentions
    #: cross, own, numbers: the weights of the cross- and of the self-attention, and the distributions, compressed.
    cross: NDArray[np.uint8]
    own: NDArray[np.uint8]
    numbers: NDArray[np.uint8]
    samples: NDArray[np.uint8]  #: of the lane, 16 bits each, compressed
    lane: Lane | None = None
    moments: int = 0  #: how many columns, the first, are moments of a sound
    picture: Annotated[SourcePicture | None, LOCAL] = None  #: of which the source's tokens are parts
    stops: tuple[str, ...] = theme.SEQUENTIAL
    ticks: tuple[float, ...] = theme.SQRT_TICKS
    colours: tuple[str, ...] = theme.HEAD_COLOURS

    def derived(self) -> dict[str, object]:
        """As of all cells, and the picture with its size, compressed."""
        more = {} if self.picture is None else self.picture.derived()
        return super().derived() | {
            name: compressed(part) if isinstance(part, np.ndarray) else part for name, part in more.items()
        }

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all."""
        return payload.digest(self)

    @classmethod
    def of(
        cls,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        steps: Sequence[PlayerStep],
        cross: Float[np.ndarray, "layer head step source"],
        self_: Float[np.ndarray, "layer head step target"],
        spread: PlayerSpread,
        titles: tuple[str, str] = TWO_ATTENTIONS,
        axes: tuple[FocusAxis, FocusAxis, FocusAxis] = (*focus.axes(CROSS, rows_write=True), FocusAxis("target")),
        *,
        lane: Lane | None = None,
        moments: int = 0,
        picture: SourcePicture | None = None,
    ) -> Self:
        """Code and compress a decoding; `titles` are what both attentions are called, all else as of the class."""
        rows, sources = len(steps), len(source_tokens)
        layers, heads = cross.shape[:2]
        assert rows == len(target_tokens) > 0, "one step for each target token, and at least one"
        assert cross.shape == (layers, heads, rows, sources), f"cross attention has shape {cross.shape}"
        assert self_.shape == (layers, heads, rows, rows), f"self-attention has shape {self_.shape}"
        assert len(spread.best) == len(spread.counts) == len(spread.centres) == rows, "one distribution a step"
        return cls(
            source_tokens=tuple(source_tokens),
            target_tokens=tuple(target_tokens),
            steps=tuple(steps),
            layers=layers,
            heads=heads,
            vocab_size=spread.vocab_size,
            num_best=spread.best.shape[1],
            num_bins=spread.counts.shape[1],
            titles=titles,
            axes=axes,
            cross=cells(cross),
            own=cells(self_),
            numbers=_floats(spread),
            samples=compressed(_NO_SAMPLES if lane is None else lane.samples),
            lane=lane,
            moments=moments,
            picture=picture,
        )


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
    data: PlayerData, state: PlayerState, *, key: str, name: str, note: str, head_names: HeadNames, asks: bool
) -> PlayerState | None:
    """Show a decoding; return the player's state once a person has changed it. What they wish says `wished`.

    What is returned may be handed in again in the next run, through the URL or otherwise. What does not exist in a
    `state` is replaced by the nearest that does, which is then returned. `name` is of saved pictures, without step and
    ending; `head_names` are for heads with longer titles than "L4 H2"; `asks`: whether *Why?* is offered of their rows.
    """
    asked = clamp(state, data)

    def take(wish: object) -> None:
        # Kept until it is done: a run that another cuts short knew of it and did nothing.
        st.session_state[_wish_key(key)] = wish

    st.session_state.pop(_wish_key(key), None)
    more = {"name": name, "note": note, "head_names": head_names, "asks": asks}
    read_own = partial(read_state, data)
    reported = play(COMPONENT, data, asked=asked, read=read_own, digest=data.digest, key=key, more=more, wish=take)
    return asked if reported is None and asked != state else reported


def _within(number: int, existing: range) -> int:
    return min(max(number, existing[0]), existing[-1])


def _wish_key(key: str) -> str:
    return f"{key}/wish"


def cells(weights: Float[np.ndarray, "layer head row key"]) -> NDArray[np.uint8]:
    """Compress all low bytes, then all high bytes: similar bytes side by side compress better."""
    cells = code(weights)
    planes = np.stack([cells & 255, cells >> 8]).astype(np.uint8)
    return compressed(planes)


def compressed(numbers: NDArray[np.generic]) -> NDArray[np.uint8]:
    """The bytes of an array, little-endian, as the player unpacks them."""
    return np.frombuffer(payload.deflate(np.ascontiguousarray(numbers).reshape(-1).view(np.uint8)), np.uint8)


def _floats(spread: PlayerSpread) -> NDArray[np.uint8]:
    """The best log-probabilities of all steps, then the bins' counts, then their centres, as float32, compressed."""
    numbers = np.concatenate([part.astype("<f4").ravel() for part in (spread.best, spread.counts, spread.centres)])
    return compressed(numbers)
