"""Name what pictures show by tokens: what a person points at in one is then found in all others (`focus.js`).

A row of an encoder–decoder's translation stands for the token that it writes: what a translated word attends to is what
the model attended to when it wrote that word. In every other model a row stands for the token that it reads
(`Trace.rows_write`). A column always stands for the token that is read.
Labels are also named by the role of a chat, or the text of a pair, that they are of (`chat_roles.js`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from viz import theme
from viz.text.written import CROSS, DECODER, ENCODER

#: Whose tokens they are: "source", the text that an encoder reads, or "target", what a decoder reads; where several
#: texts are in sight, with the name of the text in front (`of_text`).
Side = str
#: For each label the positions of its tokens.
Groups = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens of one side."""

    side: Side
    tokens: Sequence[int]


@dataclass(frozen=True, slots=True)
class FocusAxis:
    """Rows, columns or words."""

    side: Side  #: whose tokens they stand for
    ahead: int = 0  #: how far behind its position the token of a row is: 1 where rows stand for what they write
    #: the tokens of each; None where each has the token of its number, or the one `ahead` of it.
    groups: Groups | None = None


def of_text(axis: FocusAxis, name: str) -> FocusAxis:
    """The same axis of another text, whose pictures answer one another alone."""
    return replace(axis, side=f"{name} {axis.side}")


def beside(axis: FocusAxis) -> FocusAxis:
    """The same axis of a sentence that stands beside another one on its page."""
    return of_text(axis, "other")


_SIDES: Final[Mapping[str, tuple[Side, Side]]] = {
    ENCODER: ("source", "source"),
    DECODER: ("target", "target"),
    CROSS: ("target", "source"),
}
#: The queries and the keys of an attention.
Axes = tuple[FocusAxis, FocusAxis]


def axes(site: str, *, rows_write: bool) -> Axes:
    """The queries and the keys of a site, whose rows stand for what they write or for what they read."""
    queries, keys = _SIDES[site]
    return FocusAxis(queries, ahead=int(rows_write)), FocusAxis(keys)


@dataclass(frozen=True, slots=True)
class FocusHead:
    """A head that is open."""

    site: str  #: which attention
    name: str  #: what it is called
    #: rows, columns: its queries and its keys.
    rows: FocusAxis
    columns: FocusAxis
    asks: bool = False  #: whether *Why?* is offered of its cells


def any_head(site: str, of: Axes) -> FocusHead:
    """What all heads of an attention share; each is called something else."""
    return FocusHead(site, "", *of)


def head(name: str, site: str, of: Axes, rows: Groups, columns: Groups, *, asks: bool = False) -> FocusHead:
    """A head of an attention, by the positions of each of its rows and columns."""
    return FocusHead(site, name, grouped(of[0], rows), grouped(of[1], columns), asks)


def grouped(axis: FocusAxis, groups: Groups) -> FocusAxis:
    """The same side with labels that have several tokens, or not all."""
    if all(tuple(group) == (number,) for number, group in enumerate(groups)):
        return axis
    tokens = [[position + axis.ahead for position in group] for group in groups] if axis.ahead else groups
    return replace(axis, groups=tokens)


#: A role, the first label that is of it, and the one after the last.
Run = tuple[str, int, int]


def packed(runs: Sequence[Run]) -> list[tuple[str, int, int, str]]:
    """Runs of roles with their colours."""
    return [(*run, theme.ROLE_COLOURS[run[0]]) for run in runs]


#: Runs, as a payload packs them.
Roles = Annotated[Sequence[Run], packed]
