"""Heads as lines between two columns of tokens, drawn and handled in the browser: chips, kept token, threshold.

Every head of a layer is sent once; what a person then does happens in `head_lines.js`, which reports it.

Page and picture must not fight. The page may follow what the picture reported, through a URL or otherwise; to send that
back as an order would undo the click made since. So an order goes out only when the page wants something else than what
the picture is known to show, each with a number that the picture obeys once; reports made under an older number, and
thus about to be overruled, do not count. A message without a new order has the very same bytes, and costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeGuard

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.components.declare import declare
from viz.core import chat_roles, fingerprint, payload, token_text
from viz.core.focus import FocusHead
from viz.core.theme import HEAD_COLOURS
from viz.core.widget_values import sent

_COMPONENT = declare("pages/attention/opened_head/head_lines.js", "pages/attention/opened_head/head_lines.css")


@dataclass(frozen=True, slots=True)
class LinesView:
    """What a picture shows: heads that are on, ascending; the query or key kept, if any; the threshold in percent."""

    heads: tuple[int, ...]
    query: int | None = None
    key: int | None = None
    threshold: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class LinesData:
    """What there is to draw.

    Attributes:
        values: none below 0 or above `top`.
        top: the value of the strongest line there can be; the threshold counts in percent of it.
        query_tokens, key_tokens: one for each row and each column.
        query_roles, key_roles: runs of them that are of one role of a chat, named beside them.
        head_names: how each head is called; a single one is not offered as a choice.
        number: what one value is called.
        title: stands over hover boxes and saved pictures.
        file_name: of saved pictures, without heads and ending.
        focus: by which tokens the page's other pictures know rows and columns.
    """

    values: Float[np.ndarray, "head query key"]
    top: float
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    head_names: tuple[str, ...]
    number: str
    title: str
    file_name: str
    query_roles: Sequence[chat_roles.Run] = ()
    key_roles: Sequence[chat_roles.Run] = ()
    focus: FocusHead | None = None

    def __post_init__(self) -> None:
        expected = (len(self.head_names), len(self.query_tokens), len(self.key_tokens))
        assert self.values.shape == expected, f"values have shape {self.values.shape}, names and tokens {expected}"


@dataclass(frozen=True, slots=True)
class Memory:
    """The last order, for which matrix, and what the picture is known to show: that order, or what it has reported."""

    number: int
    order: LinesView
    digest: str
    shown: LinesView | None


def next_memory(last: Memory | None, wanted: LinesView, digest: str, *, is_alive: bool) -> Memory:
    """What to remember after a run in which the page wants this; a new order if the picture shows something else.

    `last` is what was remembered before; a picture that was not on the page then (`is_alive`) is empty.
    """
    if last is None:
        return Memory(1, wanted, digest, wanted)
    if is_alive and wanted == last.shown:
        return replace(last, digest=digest)
    return Memory(last.number + 1, wanted, digest, wanted)


def after_report(memory: Memory, value: object, shape: tuple[int, int, int]) -> Memory:
    """What to remember after a report from the browser. It may be late, or anything at all.

    A report about another matrix tells that the picture no longer shows what was thought: then nothing is known.
    """
    if not isinstance(value, Mapping) or value.get("command") != memory.number:
        return memory
    lines = read_view(value, shape)
    return replace(memory, shown=lines if value.get("digest") == memory.digest else None)


def read_view(value: Mapping[object, object], shape: tuple[int, int, int]) -> LinesView | None:
    """What the browser reported, if all of it exists in a matrix of this shape [head, query, key]."""
    heads, query, key, threshold = (value.get(name) for name in ("heads", "query", "key", "threshold"))
    if not isinstance(heads, list) or not heads or not all(_is_below(head, shape[0]) for head in heads):
        return None
    if not ((query is None or _is_below(query, shape[1])) and (key is None or _is_below(key, shape[2]))):
        return None
    if not isinstance(threshold, int) or not _is_below(threshold, 101):
        return None
    return LinesView(tuple(sorted(set(heads))), query, key, threshold)


def pack_lines(data: LinesData, memory: Memory) -> bytes:
    """The payload of `head_lines.js`: names and tokens, the order, and the matrices as shares of `top`."""
    header = {
        "queryTokens": token_text.display_tokens(data.query_tokens),
        "keyTokens": token_text.display_tokens(data.key_tokens),
        "queryRoles": chat_roles.packed(data.query_roles),
        "keyRoles": chat_roles.packed(data.key_roles),
        "headNames": data.head_names,
        "top": data.top,
        "number": data.number,
        "title": data.title,
        "fileName": data.file_name,
        "colours": HEAD_COLOURS,
        "focus": None if data.focus is None else asdict(data.focus),
        "digest": memory.digest,
        "command": asdict(memory.order) | {"number": memory.number},
    }
    return payload.pack(header, payload.sqrt_uint16(data.values / data.top))


def digest_of(data: LinesData) -> str:
    """A fingerprint of everything that is drawn."""
    names = (*data.query_tokens, "\n", *data.key_tokens, "\n", *data.head_names, data.number, data.title, str(data.top))
    return fingerprint.digest(*names, str([*data.query_roles, "\n", *data.key_roles]), data.values)


def head_lines(data: LinesData, view: LinesView, *, on_change: Callable[[LinesView], None], key: str) -> None:
    """Show `data` as lines as `view` says; `on_change` is called before the next run with what a person made of it."""
    memory_key = f"{key}/memory"
    is_alive = key in st.session_state
    memory = next_memory(st.session_state.get(memory_key), view, digest_of(data), is_alive=is_alive)
    st.session_state[memory_key] = memory

    def take() -> None:
        before: Memory = st.session_state[memory_key]
        after = after_report(before, sent(key, "view"), data.values.shape)
        st.session_state[memory_key] = after
        if after is not before and after.shown is not None:
            on_change(after.shown)

    _COMPONENT(data=pack_lines(data, memory), key=key, on_view_change=take)


def _is_below(number: object, limit: int) -> TypeGuard[int]:
    # A boolean is an int to Python, but no index.
    return type(number) is int and 0 <= number < limit
