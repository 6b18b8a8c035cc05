"""The Transformer, of the page that teaches: the paper's figure 1 of the chosen model, and a translation through it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Annotated, Final, Literal

import streamlit as st

from viz import theme
from viz.access import models
from viz.pages.learn.architecture import data
from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.payload import Token, Tokens, hear, read, rounded
from viz.pictures.player.exchange import play
from viz.selection import state
from viz.selection.attention import ALL_HEADS
from viz.selection.pages import Section
from viz.text.messages import _, plural, said
from viz.text.sites import CROSS, DECODER, ENCODER, SITES, file_name
from viz.ui import frame, sentence, tools
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace
    from viz.pages.learn.architecture.data import Shape

KEY: Final = "architecture"
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
class MapCandidate:
    """A token that could have been written."""

    token: Token
    probability: Annotated[float, rounded(5)]


#: Kind of a box → what it does.
_TEXTS: Final = {
    "inputs": said("The text, split into tokens."),
    "positions": said("A vector for the position is added: attention alone cannot see the order (§3.5)."),
    "feed_forward": said("Two linear maps with a non-linear function between them, the same at each position (§3.3)."),
    "final_norm": said("In this model norms come before the sub-layers, so one more follows the last layer."),
    "softmax": said("Logits become probabilities; the most probable token is written and read in the next step."),
}
#: How a model knows positions → as people read it.
POSITIONS: Final = {
    "sinusoidal": said("sinusoidal"),
    "learned": said("learned"),
    "rotary": said("rotary"),
    "ALiBi": "ALiBi",
    "relative bias": said("relative bias"),
    "none": said("none"),
    "unknown": said("unknown"),
}


@dataclass(frozen=True)
class Lead:
    """What a box opens.

    Attributes:
        name: as people read it.
        page: the folder of the page.
        choices: of the selection.
    """

    name: str
    page: Section
    choices: dict[str, object] = field(default_factory=dict)


def show(head: "DeltaGenerator") -> None:
    """The sentence, and the map with its film."""
    with frame.loading():
        abilities = models.abilities(state.current().model)
    if "self-attention" in abilities.lacks:
        why = abilities.lacks["self-attention"]
        frame.note(
            plain(
                _(
                    "The map shows a Transformer, but this model ({family}) is not one. {why}",
                    family=abilities.family,
                    why=why,
                )
            )
        )
        return
    trace = sentence.read_and_show(state.current().common.text, head)
    _map(trace)


@frame.fragment
def _map(trace: "Trace") -> None:
    shape = data.shape_in(trace, models.reader(state.current().model))
    asked = MapState(state.current().learn.map_step)
    name = file_name("transformer", sentence=trace.text)
    shown = architecture_player(shape, trace, asked, on_open=_open, key=KEY, name=name)
    if shown is not None and shown.step != asked.step:
        state.change(map_step=shown.step)
    for caution in _cautions(shape, trace):
        st.caption(caution)


def _open(opened: Opened) -> None:
    """Go where the box leads, with the current sentence."""
    target = lead(opened.box, opened.layer, opened.row)
    state.choose(**target.choices)
    tools.open_page(target.page)


def _cautions(shape: data.Shape, trace: "Trace") -> list[str]:
    """What the map does not know of a model, or what the model has not."""
    found = []
    if not shape.norm:
        found.append(
            _("This model's settings do not say whether its norms come before its sub-layers or, as drawn, after them.")
        )
    if shape.is_parallel:
        found.append(_("In this model attention and feed-forward run in parallel: both read the input of the layer."))
    if not shape.has_positions and shape.positions not in ("none", "unknown"):
        found.append(
            _(
                "Positions: {scheme}. They act within attention, so no vector is added at the bottom.",
                scheme=_(POSITIONS[shape.positions]),
            )
        )
    if shape.positions == "none":
        found.append(_("This model adds no positions."))
    if not shape.has_residual:
        found.append(_("This model was trained without residual connections: nothing bypasses a sub-layer."))
    if DECODER not in trace.sites:
        found.append(_("This model only reads: it has no decoder, and no token is written."))
    elif ENCODER not in trace.sites:
        found.append(_("This model is decoder-only: it has no source and therefore no cross-attention."))
    return found


def notes(shape: "Shape", stack: str) -> dict[str, str]:
    """Kind of a box → the numbers below its name, as far as the model's settings say them."""
    sites = {"self": ENCODER if stack == "encoder" else DECODER, "cross": CROSS}
    heads = dict(shape.heads)
    known = {kind: _heads(heads[site], shape.d_model) for kind, site in sites.items() if site in heads}
    width, inner, vocabulary = shape.d_model, shape.d_ff, shape.vocab_size
    if width and vocabulary:
        known["embedding"] = _("{count:,} tokens × {width}", count=vocabulary, width=width)
        known["linear"] = f"{width} → {vocabulary:,}"
    if width and inner:
        known["feed_forward"] = f"{width} → {inner:,} → {width}"
    if vocabulary:
        known["softmax"] = _("{count:,} probabilities", count=vocabulary)
    return known


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
        sizes = notes(shape, name) | {"positions": _(POSITIONS[shape.positions])}
        has_cross, writes = is_decoder and shape.has_cross, is_decoder and shape.writes
        return cls(layers, has_cross, shape.has_positions, writes, sizes)


@dataclass(frozen=True, slots=True)
class MapShape:
    """What the map has boxes for."""

    encoder: MapStack | None
    decoder: MapStack | None
    norm: Literal["pre", "post"]
    has_residual: bool


def texts(shape: "Shape", stack: str) -> dict[str, str]:
    """Kind of a box → what it does, in a sentence or two."""
    does = {kind: _(text) for kind, text in _TEXTS.items()}
    does["embedding"] = (
        _("Each token becomes its row of a matrix, times √d_model (§3.4).")
        if shape.is_scaled
        else _("Each token becomes its row of a matrix.")
    )
    if stack == "encoder":
        does["self"] = _("Every token of the text attends to every other, each head in a different way (§3.2).")
        return does
    if shape.encoder_layers:
        does["inputs"] = _("The output so far, shifted right by one: each row predicts the token after it.")
    does["self"] = _("The token attends to what came before it and never ahead: a mask hides later tokens (§3.2.3).")
    does["cross"] = _(
        "The token attends to the source: the query comes from here, keys and values from the encoder (§3.2.3)."
    )
    does["linear"] = _("The dot product with a row for each token of the vocabulary: a logit for each (§3.4).")
    return does


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
                for kind, text in texts(shape, stack).items()
            },
            leads={box: lead(box, -1, -1).name for box in BOXES},
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


def _heads(count: int, width: int | None) -> str:
    if width and width % count == 0:
        return plural("{count} head of {width}", "{count} heads of {width}", count, width=width // count)
    return plural("{count} head", "{count} heads", count)


def lead(box: str, layer: int, row: int) -> Lead:
    """What a box opens for the current sentence.

    Args:
        box: a stack and a kind.
        layer: in which the film is, from 0; -1 for none.
        row: that the decoder reads, from 0; -1 for none.
    """
    stack, kind = box.split(".")
    if kind in ("self", "cross"):
        site = f"{stack}.{kind}"
        assert site in SITES
        inside: dict[str, object] = {"layer": layer, "head": 0} if layer >= 0 else {}
        name = _("its heads on the page Attention")
        return Lead(name, "attention", {"attention_tab": ALL_HEADS, "site": site} | inside)
    if kind == "positions":
        side = "source" if stack == "encoder" else "target"
        choices = {"paper_tab": "Positions", "side": side}
        return Lead(_("the encodings on the page The paper"), "paper", dict(choices))
    if kind == "softmax" or (kind, stack) == ("inputs", "decoder"):
        step: dict[str, object] = {"step": row} if row >= 0 else {}
        return Lead(_("the film on the page Decode"), "decoding", {"decoding_tab": "Film"} | step)
    if kind == "linear":
        return Lead(
            _("the logit lens on the page Decode"), "decoding", {"decoding_tab": "Inside", "inside": "Logit lens"}
        )
    if kind == "layers":
        return Lead(_("what every head does, on the page Atlas"), "atlas", {"atlas_tab": "Maps"})
    return Lead(_("one token, followed through it"), "learn", _followed(stack, kind, layer, row))


def _followed(stack: str, kind: str, layer: int, row: int) -> dict[str, object]:
    """The stage of the tab that follows a token, and in the decoder the token that the film is at."""
    choices: dict[str, object] = {
        "learn_tab": "The Transformer",
        "transformer_view": "One token",
        "followed_stack": stack,
    }
    if stack == "decoder":
        choices["followed_token"] = max(row, 0)
    if kind in ("inputs", "embedding"):
        return choices | {"followed_stage": 0}
    return choices | ({"followed_stage": layer + 1} if layer >= 0 else {})
