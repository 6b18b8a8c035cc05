"""A decoding that can be stepped through in the browser: prefix, candidates, and the new row of every head.

The whole decoding is sent once; stepping and the choice of a layer happen in `decode_player.js`, which then reports
where it stands, so that a URL can follow. Knows nothing of how a trace came about, and nothing of pages.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.components import wire
from viz.theme import SEQUENTIAL, SQRT_TICKS

if TYPE_CHECKING:
    from model import DecodingStep, Trace

#: How many candidates of a step are shown.
SHOWN_CANDIDATES: Final = 10

_HTML: Final = """
<div class="decode-player"></div>
"""
_COMPONENT = st.components.v2.component(
    "headlight_decode_player",
    html=_HTML,
    css=wire.sources("picture.css", "decode_player.css"),
    js=wire.script("wire.js", "picture.js", "candidate_bars.js", "attention_strip.js", "decode_player.js"),
)


@dataclass(frozen=True)
class PlayerCandidate:
    """A token a step could have taken, and its natural log-probability."""

    token: str
    log_prob: float


@dataclass(frozen=True)
class PlayerStep:
    """One step: the token taken, its log-probability, the entropy of the distribution (both in nats), the candidates.

    `chosen` is the place of the token taken among `candidates`, None if it is not one of them (it was forced).
    """

    token: str
    log_prob: float
    entropy: float
    candidates: tuple[PlayerCandidate, ...]
    chosen: int | None

    @classmethod
    def of(cls, step: "DecodingStep") -> Self:
        """The most probable candidates of a model's step."""
        best = step.candidates[:SHOWN_CANDIDATES]
        chosen = next((i for i, candidate in enumerate(best) if candidate.token_id == step.token_id), None)
        candidates = tuple(PlayerCandidate(candidate.token, candidate.log_prob) for candidate in best)
        return cls(step.token, step.log_prob, step.entropy, candidates, chosen)


@dataclass(frozen=True)
class PlayerData:
    """A finished decoding. Row t of `cross` and `self_` takes in `target_tokens[t]` and predicts `steps[t].token`."""

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    steps: tuple[PlayerStep, ...]
    cross: Float[np.ndarray, "layer head step source"]
    self_: Float[np.ndarray, "layer head step target"]

    def __post_init__(self) -> None:
        rows, sources = len(self.steps), len(self.source_tokens)
        assert rows == len(self.target_tokens) > 0, "one step for each target token, and at least one"
        layers, heads = self.cross.shape[:2]
        assert self.cross.shape == (layers, heads, rows, sources), f"cross attention has shape {self.cross.shape}"
        assert self.self_.shape == (layers, heads, rows, rows), f"self-attention has shape {self.self_.shape}"

    @classmethod
    def from_trace(cls, trace: "Trace") -> Self:
        """Everything the player shows of a trace, out of torch's hands."""
        layers = range(trace.num_layers)
        return cls(
            source_tokens=tuple(trace.source_tokens),
            target_tokens=tuple(trace.target_tokens),
            steps=tuple(PlayerStep.of(step) for step in trace.steps),
            cross=np.stack([trace.weights("decoder.cross", layer).numpy() for layer in layers]),
            self_=np.stack([trace.weights("decoder.self", layer).numpy() for layer in layers]),
        )


@dataclass(frozen=True)
class PlayerState:
    """Where the player stands. Both count from 0."""

    step: int
    layer: int


@dataclass(frozen=True)
class Command:
    """A place the player is sent to. It obeys each `number` once, so that sending it again changes nothing."""

    number: int
    place: PlayerState
    digest: str


@dataclass(frozen=True)
class Exchange:
    """What page and player last said to each other; kept in the session between two runs."""

    command: Command
    asked: PlayerState | None
    reported: PlayerState | None


def next_command(last: Exchange | None, asked: PlayerState, reported: PlayerState | None, digest: str) -> Command:
    """The last command again, unless the page really asks for something new.

    A page that follows the player through the URL asks for what the player itself reported, possibly one run late. To
    obey that would throw a person who went on stepping back to where they were. So a wish counts only if the page did
    not have it in the run before and the player did not report it. Another decoding always counts.
    """
    if last is None:
        return Command(1, asked, digest)
    is_echo = asked in (last.asked, last.reported, reported)
    if is_echo and last.command.digest == digest:
        return last.command
    return Command(last.command.number + 1, asked, digest)


def read_state(value: object, data: PlayerData, command: Command) -> PlayerState | None:
    """What the browser reported, if it has obeyed `command` and names a step and a layer that exist."""
    if not isinstance(value, Mapping) or (value.get("digest"), value.get("command")) != (
        command.digest,
        command.number,
    ):
        return None
    step, layer = value.get("step"), value.get("layer")
    if not (isinstance(step, int) and isinstance(layer, int)):
        return None
    return PlayerState(step, layer) if PlayerState(step, layer) == clamp(PlayerState(step, layer), data) else None


def clamp(state: PlayerState, data: PlayerData) -> PlayerState:
    """The nearest place that exists: a URL may have been written for another sentence."""
    return PlayerState(
        step=min(max(state.step, 0), len(data.steps) - 1),
        layer=min(max(state.layer, 0), data.cross.shape[0] - 1),
    )


def pack_player(data: PlayerData, last: Exchange | None, asked: PlayerState, value: object) -> tuple[bytes, Command]:
    """The payload of `decode_player.js` and the command in it; `value` is what the browser reported before this run."""
    arrays = [wire.sqrt_uint16(data.cross), wire.sqrt_uint16(data.self_)]
    header: dict[str, object] = {
        "layers": data.cross.shape[0],
        "heads": data.cross.shape[1],
        "sourceTokens": wire.display_tokens(data.source_tokens),
        "targetTokens": wire.display_tokens(data.target_tokens),
        "steps": [_step_as_json(step) for step in data.steps],
        "stops": SEQUENTIAL,
        "ticks": SQRT_TICKS,
    }
    digest = wire.digest(repr(header), *arrays)
    reported = None if last is None else read_state(value, data, last.command)
    command = next_command(last, asked, reported, digest)
    header |= {"digest": digest, "command": {"number": command.number, **asdict(command.place)}}
    return wire.pack(header, *arrays), command


def _step_as_json(step: PlayerStep) -> dict[str, object]:
    return {
        "token": wire.display_token(step.token),
        "logProb": step.log_prob,
        "entropy": step.entropy,
        "chosen": step.chosen,
        "candidates": [[wire.display_token(candidate.token), candidate.log_prob] for candidate in step.candidates],
    }


def decode_player(data: PlayerData, *, step: int, layer: int, key: str) -> PlayerState | None:
    """Show `data` at `step` and `layer`; return where the player stands once a person has moved it, otherwise None.

    What is returned may be handed in again as `step` and `layer` in the next run, through the URL or otherwise. A step
    or layer that does not exist is replaced by the nearest one, which is then returned.
    """
    asked = clamp(PlayerState(step, layer), data)
    memory_key = f"{key}/exchange"
    is_alive = key in st.session_state
    last: Exchange | None = st.session_state.get(memory_key)
    if last is not None and not is_alive:
        # Streamlit forgets a component that a run leaves out. Its successor stands nowhere, so whatever the page asks
        # is news; the number goes on, because the browser remembers the ones it has obeyed.
        last = Exchange(last.command, None, None)
    payload, command = pack_player(data, last, asked, st.session_state[key].get("view") if is_alive else None)
    result: Any = _COMPONENT(data=payload, key=key, on_view_change=_nothing)
    reported = read_state(result.view, data, command)
    st.session_state[memory_key] = Exchange(command, asked, reported)
    if reported is None and asked != PlayerState(step, layer):
        return asked
    return reported


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
