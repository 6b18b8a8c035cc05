"""Send a model's shape and a translation to `architecture_player.js`; read back the step and what is opened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Any, Final

from viz.components.declare import declare
from viz.components.player.exchange import Command, Exchange, converse, next_command
from viz.core import fingerprint, payload, theme, token_text
from viz.core.messages import _
from viz.core.widget_values import sent
from viz.pages.learn.architecture import words

if TYPE_CHECKING:
    from model import Trace
    from viz.pages.learn.architecture.data import Shape

_FOLDER = "pages/learn/architecture"
_COMPONENT = declare(f"{_FOLDER}/architecture_player.js", f"{_FOLDER}/architecture_player.css")
#: What kinds of boxes are coloured as.
COLOURS: Final = {
    "embedding": theme.HEAD_COLOURS[7],
    "position": theme.HEAD_COLOURS[5],
    "self": theme.HEAD_COLOURS[0],
    "cross": theme.HEAD_COLOURS[1],
    "feed-forward": theme.HEAD_COLOURS[2],
    "norm": theme.HEAD_COLOURS[6],
    "output": theme.HEAD_COLOURS[3],
}
KINDS: Final = (
    "inputs", "embedding", "positions", "self", "self_norm", "self_add", "cross", "cross_norm", "cross_add",
    "feed_forward", "feed_forward_norm", "feed_forward_add", "final_norm", "linear", "softmax", "layers",
)  # fmt: skip
_DECODER_ONLY: Final = ("cross", "cross_norm", "cross_add", "linear", "softmax")
BOXES: Final = (
    *(f"encoder.{kind}" for kind in KINDS if kind not in _DECODER_ONLY),
    *(f"decoder.{kind}" for kind in KINDS),
)
#: So many candidates are shown at the softmax, and no more steps than this are ever asked for.
CANDIDATES: Final = 5
MOST_STEPS: Final = 999_999


@dataclass(frozen=True)
class MapState:
    """Where the film stands; from 0."""

    step: int


@dataclass(frozen=True)
class Opened:
    """The box that a person opened, and where the film stood: layer and row from 0, -1 for none."""

    box: str
    layer: int
    row: int


def content_of(shape: "Shape", trace: "Trace") -> dict[str, object]:
    """What is drawn and told, without what changes while it runs."""
    stacks = {
        "encoder": _stack(shape, "encoder", shape.encoder_layers),
        "decoder": _stack(shape, "decoder", shape.decoder_layers),
    }
    steps = trace.steps
    return {
        "architecture": {**stacks, "norm": shape.norm or "post", "hasResidual": shape.has_residual},
        "source": token_text.display_tokens(trace.source_tokens),
        "read": token_text.display_tokens(trace.target_tokens[len(trace.target_tokens) - len(steps) :]),
        "written": [
            [
                {"token": token_text.display_token(candidate.token), "probability": round(exp(candidate.log_prob), 5)}
                for candidate in step.candidates[:CANDIDATES]
            ]
            for step in steps
        ],
        "tokens": token_text.display_tokens([step.token for step in steps]),
        "texts": {
            f"{stack}.{kind}": text
            for stack in ("encoder", "decoder")
            for kind, text in words.texts(shape, stack).items()
        },
        "leads": {box: words.lead(box, -1, -1).name for box in BOXES},
        "colours": COLOURS,
    }


def _stack(shape: "Shape", name: str, layers: int) -> dict[str, object] | None:
    if not layers:
        return None
    is_decoder = name == "decoder"
    return {
        "layers": layers,
        "hasCross": is_decoder and shape.has_cross,
        "hasPositions": shape.has_positions,
        "writes": is_decoder and shape.writes,
        "notes": words.notes(shape, name) | {"positions": _(words.POSITIONS[shape.positions])},
    }


def read_state(digest: str, value: object, command: Command[MapState]) -> MapState | None:
    """Where the browser says that the film stands, if it has obeyed the command."""
    if not isinstance(value, Mapping) or not command.is_answered_by(value) or value.get("digest") != digest:
        return None
    step = value.get("step")
    return MapState(step) if type(step) is int and 0 <= step <= MOST_STEPS else None


def read_opened(value: object) -> Opened | None:
    """The box that the browser says was opened, if there is such a box."""
    if not isinstance(value, Mapping) or value.get("box") not in BOXES:
        return None
    layer, row = value.get("layer"), value.get("row")
    if type(layer) is not int or type(row) is not int or not (-1 <= layer < 1_000 and -1 <= row <= MOST_STEPS):
        return None
    return Opened(str(value["box"]), layer, row)


def architecture_player(
    shape: "Shape", trace: "Trace", asked: MapState, *, on_open: Callable[[Opened], None], key: str, name: str
) -> MapState | None:
    """Show the map and its film; return where a person has moved it; `on_open` is called with a box that they open."""
    content = content_of(shape, trace)
    digest = fingerprint.digest(repr(content))

    def take() -> None:
        if (opened := read_opened(sent(key, "box"))) is not None:
            on_open(opened)

    def show(last: Exchange[MapState] | None, value: object) -> tuple[Any, Command[MapState]]:
        reported = None if last is None else read_state(digest, value, last.command)
        command = next_command(last, asked, reported, digest)
        packed = payload.pack({**content, "name": name, "digest": digest, "command": command.packed()})
        return _COMPONENT(data=packed, key=key, on_view_change=_nothing, on_box_change=take), command

    return converse(show, partial(read_state, digest), asked, key=key)


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
