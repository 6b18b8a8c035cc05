"""Send the path of a token to `token_path.js`, and its sentence to `token_line.js`; read back what was clicked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.components.declare import declare
from viz.core import fingerprint, payload, theme, token_text
from viz.core.messages import _, said
from viz.core.widget_values import sent
from viz.pages.learn.follow_token.story import NAMES, Row, stage_names

if TYPE_CHECKING:
    from model.analysis.residual_stream.additions import TokenPath
    from viz.selection.learn import Stack

_FOLDER = "pages/learn/follow_token"
_LINE = declare(f"{_FOLDER}/token_line.js", f"{_FOLDER}/token_line.css")
_PATH = declare(f"{_FOLDER}/token_path.js", f"{_FOLDER}/token_path.css")
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

    stack: "Stack"
    mark: str
    language: str
    tokens: tuple[str, ...]


def token_line(
    lines: Sequence[TokenLine],
    stack: "Stack",
    position: int,
    *,
    on_pick: Callable[["Stack", int], None],
    key: str,
) -> None:
    """Show what each stack reads as tokens, of which one is chosen; `on_pick` is called with another one."""
    shown = [
        {"stack": line.stack, "mark": line.mark, "language": line.language}
        | {"tokens": token_text.display_tokens(line.tokens)}
        for line in lines
    ]
    header = {"lines": shown, "stack": stack, "position": position, "digest": fingerprint.digest(repr(shown))}

    def take() -> None:
        picked = read_token(sent(key, "token"), lines)
        if picked is not None:
            on_pick(*picked)

    _LINE(data=payload.pack(header), key=key, on_token_change=take)


def read_token(value: object, lines: Sequence[TokenLine]) -> "tuple[Stack, int] | None":
    """The stack and position that the browser sent, if there is such a token."""
    if not isinstance(value, Mapping):
        return None
    position = value.get("position")
    line = next((line for line in lines if line.stack == value.get("stack")), None)
    if line is None or type(position) is not int or not 0 <= position < len(line.tokens):
        return None
    return line.stack, position


def pack_path(path: "TokenPath", stage: int, rows: Sequence[Row], *, name: str) -> bytes:
    """The payload of `token_path.js`; `name` is that of saved pictures."""
    content = {
        "token": token_text.display_token(path.token),
        "stages": stage_names(path),
        "parts": _parts(path),
        "rows": [_row(row) for row in rows],
        "stage": stage,
    }
    vectors = [row.values for row in rows if row.values is not None]
    values = np.concatenate(vectors).astype(np.float32) if vectors else np.zeros(0, np.float32)
    header = content | {
        "colours": COLOURS,
        "signed": {"stops": theme.DIVERGING, "dark": theme.NIGHT, "pale": theme.LIGHT},
        "name": name,
        "digest": fingerprint.digest(repr(content), values),
    }
    return payload.pack(header, values)


def _parts(path: "TokenPath") -> list[dict[str, object]]:
    """What is added to the stream, in order: stage, length, its share of the sum, and how long the stream is then."""
    from_input: list[dict[str, object]] = []
    begin = float(np.linalg.norm(path.begin))
    for kind, vector in (("embedding", path.embedding), ("position", path.positional)):
        if vector is not None:
            from_input.append(_part(0, kind, _(_BEGIN_NAMES[kind]), float(np.linalg.norm(vector)), None, begin))
    if not from_input:
        from_input.append(_part(0, "embedding", _("Embedding layer"), begin, None, begin))
    return from_input + [
        _part(
            number,
            addition.kind,
            _(NAMES[addition.kind]),
            float(np.linalg.norm(addition.added)),
            addition.share if addition.has_skip else None,
            float(np.linalg.norm(addition.after)),
        )
        for number, layer in enumerate(path.layers, start=1)
        for addition in layer
    ]


def _part(stage: int, kind: str, label: str, length: float, share: float | None, stream: float) -> dict[str, object]:
    numbers = {"length": round(length, 3), "share": None if share is None else round(share, 4)}
    return {"stage": stage, "kind": kind, "label": label, "stream": round(stream, 3)} | numbers


def _row(row: Row) -> dict[str, object]:
    return {
        "kind": row.kind,
        "title": row.title,
        "formula": row.formula,
        "text": row.text,
        "count": 0 if row.values is None else len(row.values),
        "group": row.group,
        "bars": [{"label": bar.label, "value": round(bar.value, 4)} for bar in row.bars],
    }


def read_stage(value: object, count: int) -> int | None:
    """The stage that the browser sent, if there is one: it may still speak of the model before."""
    stage = value.get("stage") if isinstance(value, Mapping) else None
    return stage if type(stage) is int and 0 <= stage < count else None


def token_path(
    path: "TokenPath", stage: int, rows: Sequence[Row], *, on_open: Callable[[int], None], key: str, name: str
) -> None:
    """Show the path and the steps of the open stage; `on_open` is called with the stage that a person opens."""

    def take() -> None:
        opened = read_stage(sent(key, "stage"), len(path.layers) + 2)
        if opened is not None:
            on_open(opened)

    _PATH(data=pack_path(path, stage, rows, name=name), key=key, on_stage_change=take)
