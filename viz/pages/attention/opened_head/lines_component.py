"""Heads as lines between two columns of tokens, drawn and handled in the browser: chips, kept token, threshold.

Every head of a layer is sent once; what a person then does happens in `head_lines.js`, which reports it. Page and
picture agree as a page and a player do (`viz.pictures.component`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Final

import numpy as np
from jaxtyping import Float

from viz.pictures import payload
from viz.pictures.component import Component, play
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
    """What there is to draw."""

    values: Annotated[Float[np.ndarray, "head query key"], LOCAL]  #: none below 0 or above `top`
    top: float  #: the value of the strongest line there can be; the threshold counts in percent of it
    #: query_tokens, key_tokens: one for each row and each column.
    query_tokens: Tokens
    key_tokens: Tokens
    head_names: tuple[str, ...]  #: how each head is called; a single one is not offered as a choice
    number: str  #: what one value is called
    title: str  #: stands over hover boxes and saved pictures
    file_name: str  #: of saved pictures, without heads and ending
    #: query_roles, key_roles: runs of them that are of one role of a chat, named beside them.
    query_roles: Roles = ()
    key_roles: Roles = ()
    focus: FocusHead | None = None  #: by which tokens the page's other pictures know rows and columns
    colours: tuple[str, ...] = HEAD_COLOURS

    def __post_init__(self) -> None:
        expected = (len(self.head_names), len(self.query_tokens), len(self.key_tokens))
        assert self.values.shape == expected, f"values have shape {self.values.shape}, names and tokens {expected}"

    def derived(self) -> dict[str, object]:
        """The values as shares of `top`."""
        return {"shares": payload.sqrt_uint16(self.values / self.top)}


def read_view(shape: tuple[int, ...], value: object) -> LinesView | None:
    """What the browser reported, if all of it exists in a matrix of this shape [head, query, key]."""
    heads, query, key = map(range, shape)
    view = payload.read(LinesView, value, heads=heads, query=query, key=key)
    return replace(view, heads=tuple(sorted(set(view.heads)))) if view is not None and view.heads else None


def head_lines(data: LinesData, view: LinesView, *, on_change: Callable[[LinesView], object], key: str) -> None:
    """Show `data` as lines as `view` says; `on_change` is called before the next run with what a person made of it."""
    read = partial(read_view, data.values.shape)
    play(COMPONENT, data, asked=view, read=read, digest=payload.digest(data), key=key, on_report=on_change)
