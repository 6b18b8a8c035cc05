"""Heads as lines between two columns of tokens, drawn and handled in the browser: chips, kept token, threshold.

Every head of a layer is sent once; what a person then does happens in `head_lines.js`, which reports it.

Page and picture must not fight. The page may follow what the picture reported, through a URL or otherwise; to send that
back as an order would undo the click made since. So an order goes out only when the page wants something else than what
the picture is known to show, each with a number that the picture obeys once; reports made under an older number, and
thus about to be overruled, do not count. A message without a new order has the very same bytes, and costs nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.focus import FocusHead, Roles
from viz.pictures.payload import LOCAL, Tokens
from viz.theme import HEAD_COLOURS

COMPONENT: Final = Component("pages/attention/opened_head/head_lines.js", "pages/attention/opened_head/head_lines.css")


@dataclass(frozen=True, slots=True)
class LinesView:
    """What a picture shows: heads that are on, ascending; the query or key kept, if any; the threshold in percent."""

    heads: tuple[int, ...]
    query: int | None = None
    key: int | None = None
    threshold: Annotated[int, range(101)] = 0


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

    values: Annotated[Float[np.ndarray, "head query key"], LOCAL]
    top: float
    query_tokens: Tokens
    key_tokens: Tokens
    head_names: tuple[str, ...]
    number: str
    title: str
    file_name: str
    query_roles: Roles = ()
    key_roles: Roles = ()
    focus: FocusHead | None = None
    colours: tuple[str, ...] = HEAD_COLOURS

    def __post_init__(self) -> None:
        expected = (len(self.head_names), len(self.query_tokens), len(self.key_tokens))
        assert self.values.shape == expected, f"values have shape {self.values.shape}, names and tokens {expected}"

    def derived(self) -> dict[str, object]:
        """The values as shares of `top`."""
        return {"shares": payload.sqrt_uint16(self.values / self.top)}


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


def read_view(value: object, shape: tuple[int, int, int]) -> LinesView | None:
    """What the browser reported, if all of it exists in a matrix of this shape [head, query, key]."""
    heads, query, key = map(range, shape)
    view = payload.read(LinesView, value, heads=heads, query=query, key=key)
    return replace(view, heads=tuple(sorted(set(view.heads)))) if view is not None and view.heads else None


def order(memory: Memory) -> dict[str, object]:
    """What the payload of lines has besides the lines: what they are to show."""
    return {"digest": memory.digest, "command": payload.encoded(memory.order) | {"number": memory.number}}


def head_lines(data: LinesData, view: LinesView, *, on_change: Callable[[LinesView], None], key: str) -> None:
    """Show `data` as lines as `view` says; `on_change` is called before the next run with what a person made of it."""
    memory_key = f"{key}/memory"
    is_alive = key in st.session_state
    memory = next_memory(st.session_state.get(memory_key), view, payload.digest(data), is_alive=is_alive)
    st.session_state[memory_key] = memory

    def take(value: object) -> None:
        before: Memory = st.session_state[memory_key]
        after = after_report(before, value, data.values.shape)
        st.session_state[memory_key] = after
        if after is not before and after.shown is not None:
            on_change(after.shown)

    COMPONENT.show(data, key=key, more=order(memory), view=take)
