"""Follow one token, of the page that teaches: its path through all layers, and its place among all embeddings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Self

import numpy as np
import streamlit as st
from jaxtyping import Float32

from model.errors import TraceError
from viz import theme
from viz.access import models
from viz.pages.learn.follow_token import data, embeddings
from viz.pages.learn.follow_token.story import NAMES, Row, rows, stage_names
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, Text, Token, Tokens, hear, read, rounded
from viz.selection import state
from viz.selection.learn import Stack
from viz.text.messages import _, said
from viz.text.numbers import scientific
from viz.text.sites import file_name
from viz.theme import DIVERGING_INKS, Inks
from viz.ui import finding, frame, number_controls, sentence
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from torch import Tensor

    from model import Reader, Trace
    from model.analysis.residual_stream.additions import TokenPath


_FOLDER: Final = "pages/learn/follow_token"
_LINE: Final = Component(f"{_FOLDER}/token_line.js", f"{_FOLDER}/token_line.css")
_PATH: Final = Component(f"{_FOLDER}/token_path.js", f"{_FOLDER}/token_path.css")
#: What a part is coloured as → its colour.
COLOURS = {
    "embedding": theme.HEAD_COLOURS[7],
    "position": theme.HEAD_COLOURS[5],
    "self": theme.HEAD_COLOURS[0],
    "cross": theme.HEAD_COLOURS[1],
    "feed_forward": theme.HEAD_COLOURS[2],
    "norm": theme.HEAD_COLOURS[6],
}
#: What the stream begins with → what it is called; what the layers add has its names in `story`.
_BEGIN_NAMES = {"embedding": said("Embedding"), "position": said("Position")}


@dataclass(frozen=True, slots=True)
class TokenLine:
    """The tokens that a stack reads; `mark` says what they are, `language` which they are in, "" if nobody knows."""

    stack: Stack
    mark: str
    language: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class TokenLines:
    """What each stack reads, and the token that is chosen."""

    lines: Sequence[TokenLine]
    stack: Annotated[Stack, CHOSEN]
    position: Annotated[int, CHOSEN]


@dataclass(frozen=True, slots=True)
class TokenPick:
    """A token: the stack that reads it, and its position there."""

    stack: Stack
    position: int


@dataclass(frozen=True, slots=True)
class Part:
    """What is added to the stream.

    Attributes:
        stage: at which it is.
        kind: what it is coloured as.
        length: its norm.
        share: of the sum; None without a residual connection.
        stream: the norm of the stream after it.
    """

    stage: int
    kind: str
    label: Text
    length: Annotated[float, rounded(3)]
    share: Annotated[float, rounded(4)] | None
    stream: Annotated[float, rounded(3)]


@dataclass(frozen=True, eq=False, slots=True)
class PathPicture:
    """The path and the steps of the open stage, whose vectors follow one another; `name` is that of saved pictures."""

    token: Token
    stages: Sequence[str]
    parts: Sequence[Part]
    rows: Sequence[Row]
    stage: int
    values: Float32[np.ndarray, "value"]
    name: Annotated[str, CHOSEN]
    colours: dict[str, str]
    signed: Inks = DIVERGING_INKS

    @classmethod
    def of(cls, path: "TokenPath", stage: int, rows: Sequence[Row], name: str) -> Self:
        """The picture of a path."""
        vectors = [row.values for row in rows if row.values is not None]
        values = np.concatenate(vectors).astype(np.float32) if vectors else np.zeros(0, np.float32)
        return cls(path.token, stage_names(path), _parts(path), rows, stage, values, name, COLOURS)


def show(head: "DeltaGenerator") -> None:
    """The sentence as tokens in the head of the page, the path of one of them, and its neighbours."""
    with frame.loading():
        reader = models.reader(state.current().model)
    if why := data.why_not(reader):
        frame.note(
            plain(
                _(
                    "Tokens of {name} cannot be followed. {why}",
                    name=models.name_of(state.current().model),
                    why=why,
                )
            )
        )
        return
    trace = sentence.read(state.current().common.text)
    stack, position = _followed(trace, reader)
    with head:
        token_line(TokenLines(_lines(trace), stack, position), on_pick=_pick, key="follow-line")
    sentence.show_cautions(trace, head)
    _path(trace, reader, stack, position)
    _embeddings(trace, reader, stack, position)


def _lines(trace: "Trace") -> list[TokenLine]:
    """What each stack of the model reads."""
    lines = sentence.lines_of(trace)
    sides: tuple[tuple[Stack, tuple[str, ...]], ...] = (
        ("encoder", trace.source_tokens),
        ("decoder", trace.target_tokens),
    )
    read = [side for side in sides if side[1]]
    return [
        TokenLine(stack, line.mark, line.language, tokens)
        for (stack, tokens), line in zip(read, lines[: len(read)], strict=True)
    ]


def _followed(trace: "Trace", reader: "Reader") -> "tuple[Stack, int]":
    """The token that a person chose; else the pronoun of the sentence, or the token that the model changes most."""
    chosen = state.current().learn
    stack, position = chosen.followed_stack, chosen.followed_token
    tokens = trace.source_tokens if stack == "encoder" else trace.target_tokens
    if position is not None and position < len(tokens):
        return stack, position
    link = finding.of(trace).link
    if link is not None:
        return ("encoder" if trace.source_tokens else "decoder"), link.pronoun_row
    return data.most_changed(trace, reader)


def _pick(stack: "Stack", position: int) -> None:
    state.change(followed_stack=stack, followed_token=position)


@frame.fragment
def _path(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    """The chart, the steps of the open stage, and the proof that the parts add up."""
    try:
        path = data.token_path(trace, reader, stack, position)
    except TraceError as error:
        frame.note(plain(error.message))
        return
    last = len(path.layers) + 1
    chosen = state.current().learn.followed_stage
    stage = data.most_changing_stage(path) if chosen is None or chosen > last else chosen
    name = file_name("token", stack, str(position), path.token, sentence=trace.text)
    token_path(path, stage, rows(path, stage), on_open=_open, key="follow-path", name=name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _badge(path.deviation, path.tolerance)
        number_controls.table_button(_("Table (CSV)"), partial(embeddings.parts, path), name)
    if reader.abilities.is_headlight:
        layer = min(max(stage - 1, 0), len(path.layers) - 1)
        embeddings.show_norms(trace, models.translator(state.current().model), stack, position, layer)


@frame.fragment
def _embeddings(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    embeddings.show(trace, reader, stack, position)


def _badge(largest: float, bound: float) -> None:
    difference = scientific(largest)
    if largest <= bound:
        text = _(
            "the contributions add up to what the model computed: largest difference {difference}",
            difference=difference,
        )
        st.badge(text, icon=":material/check:", color="green")
    else:
        text = _(
            "the contributions do not add up to what the model computed: largest difference {difference}",
            difference=difference,
        )
        st.badge(text, icon=":material/warning:", color="red")


def _open(stage: int) -> None:
    state.change(followed_stage=stage)


def token_line(shown: TokenLines, *, on_pick: Callable[[Stack, int], object], key: str) -> None:
    """Show what each stack of the model reads as tokens; `on_pick` is called with another one."""

    def take(value: object) -> None:
        if (picked := read_token(value, shown.lines)) is not None:
            on_pick(picked.stack, picked.position)

    _LINE.show(shown, key=key, token=take)


def read_token(value: object, lines: Sequence[TokenLine]) -> TokenPick | None:
    """The token that the browser sent, if there is such a one."""
    read_by = {line.stack: len(line.tokens) for line in lines}
    picked = read(TokenPick, value, stack=read_by, position=range(max(read_by.values(), default=0)))
    return picked if picked is not None and picked.position < read_by[picked.stack] else None


def _parts(path: "TokenPath") -> list[Part]:
    begin = _norm(path.begin)
    vectors = {"embedding": path.embedding, "position": path.positional}
    from_input = [
        Part(0, kind, _BEGIN_NAMES[kind], _norm(vector), None, begin)
        for kind, vector in vectors.items()
        if vector is not None
    ]
    return (from_input or [Part(0, "embedding", said("Embedding layer"), begin, None, begin)]) + [
        Part(
            stage=number,
            kind=addition.kind,
            label=NAMES[addition.kind],
            length=_norm(addition.added),
            share=addition.share if addition.has_skip else None,
            stream=_norm(addition.after),
        )
        for number, layer in enumerate(path.layers, start=1)
        for addition in layer
    ]


def _norm(vector: "Tensor") -> float:
    return float(np.linalg.norm(vector))


def token_path(
    path: "TokenPath", stage: int, rows: Sequence[Row], *, on_open: Callable[[int], object], key: str, name: str
) -> None:
    """Show the path and the steps of the open stage; `on_open` is called with the stage that a person opens."""
    stages = range(len(path.layers) + 2)
    _PATH.show(PathPicture.of(path, stage, rows, name), key=key, stage=hear(on_open, int, stage=stages))
