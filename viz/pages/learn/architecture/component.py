"""Send a model's shape and a translation to `architecture_player.js`; read back the step and what is opened."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Annotated, Final, Literal

from viz import theme
from viz.pages.learn.architecture import words
from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.payload import Token, Tokens, hear, read, rounded
from viz.pictures.player.exchange import play
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Trace
    from viz.pages.learn.architecture.data import Shape

_FOLDER: Final = "pages/learn/architecture"
_COMPONENT: Final = Component(f"{_FOLDER}/architecture_player.js", f"{_FOLDER}/architecture_player.css")
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
MOST_STEPS: Final = 1_000_000


@dataclass(frozen=True)
class MapState:
    """Where the film stands; from 0."""

    step: Annotated[int, range(MOST_STEPS)]


@dataclass(frozen=True)
class Opened:
    """The box that a person opened, and where the film stood: layer and row from 0, -1 for none."""

    box: Annotated[str, BOXES]
    layer: Annotated[int, range(-1, 1_000)]
    row: Annotated[int, range(-1, MOST_STEPS)]


@dataclass(frozen=True, slots=True)
class MapStack:
    """A stack of the map; `notes` stand in its boxes."""

    layers: int
    has_cross: bool
    has_positions: bool
    writes: bool
    notes: Mapping[str, str]

    @classmethod
    def of(cls, shape: "Shape", name: str, layers: int) -> "MapStack | None":
        """The encoder or the decoder, of so many layers; None if there is none."""
        if not layers:
            return None
        is_decoder = name == "decoder"
        notes = words.notes(shape, name) | {"positions": _(words.POSITIONS[shape.positions])}
        has_cross, writes = is_decoder and shape.has_cross, is_decoder and shape.writes
        return cls(layers, has_cross, shape.has_positions, writes, notes)


@dataclass(frozen=True, slots=True)
class MapShape:
    """What the map has boxes for."""

    encoder: MapStack | None
    decoder: MapStack | None
    norm: Literal["pre", "post"]
    has_residual: bool


@dataclass(frozen=True, slots=True)
class MapCandidate:
    """A token that could have been written."""

    token: Token
    probability: Annotated[float, rounded(5)]


@dataclass(frozen=True, slots=True)
class MapFilm:
    """What is drawn and told, without what changes while it runs.

    Attributes:
        architecture: the boxes.
        source, read, tokens: what is read by the encoder, read by the decoder and written, step by step.
        written: the candidates of each step.
        texts, leads: by box, what it does and which page it opens.
        colours: by kind of box.
    """

    architecture: MapShape
    source: Tokens
    read: Tokens
    tokens: Tokens
    written: Sequence[Sequence[MapCandidate]]
    texts: Mapping[str, str]
    leads: Mapping[str, str]
    colours: Mapping[str, str]

    @classmethod
    def of(cls, shape: "Shape", trace: "Trace") -> "MapFilm":
        """The film of a translation."""
        encoder, decoder = (
            MapStack.of(shape, name, layers)
            for name, layers in (("encoder", shape.encoder_layers), ("decoder", shape.decoder_layers))
        )
        steps = trace.steps
        return cls(
            architecture=MapShape(encoder, decoder, shape.norm or "post", shape.has_residual),
            source=trace.source_tokens,
            read=trace.target_tokens[len(trace.target_tokens) - len(steps) :],
            tokens=[step.token for step in steps],
            written=[
                [MapCandidate(each.token, exp(each.log_prob)) for each in step.candidates[:CANDIDATES]]
                for step in steps
            ],
            texts={
                f"{stack}.{kind}": text
                for stack in ("encoder", "decoder")
                for kind, text in words.texts(shape, stack).items()
            },
            leads={box: words.lead(box, -1, -1).name for box in BOXES},
            colours=COLOURS,
        )


def architecture_player(
    shape: "Shape", trace: "Trace", asked: MapState, *, on_open: Callable[[Opened], object], key: str, name: str
) -> MapState | None:
    """Show the map and its film; return where a person has moved it; `on_open` is called with a box that they open."""
    film = MapFilm.of(shape, trace)
    return play(
        _COMPONENT,
        film,
        asked=asked,
        read=partial(read, MapState),
        digest=payload.digest(film),
        key=key,
        more={"name": name},
        box=hear(on_open, Opened),
    )
