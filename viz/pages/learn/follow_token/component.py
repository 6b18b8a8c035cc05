"""Send the path of a token to `token_path.js`, and its sentence to `token_line.js`; read back what was clicked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Self

import numpy as np
from jaxtyping import Float32

from viz import theme
from viz.pages.learn.follow_token.story import NAMES, Row, stage_names
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, Text, Token, Tokens, hear, read, rounded
from viz.selection.learn import Stack
from viz.text.messages import said
from viz.theme import DIVERGING_INKS, Inks

if TYPE_CHECKING:
    from torch import Tensor

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
