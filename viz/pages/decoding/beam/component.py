"""A beam search as a tree, a column a step, of which a person opens one hypothesis after another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from viz import theme
from viz.pages.decoding.beam import story
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, Text, Token, hear
from viz.text.numbers import decimal

if TYPE_CHECKING:
    from model import BeamTree

_COMPONENT: Final = Component("pages/decoding/beam/beam_picture.js", "pages/decoding/beam/beam_picture.css")
_COLOURS: Final = {
    "winner": theme.HEAD_COLOURS[0],
    "rival": theme.HEAD_COLOURS[1],
    "dropped": theme.HEAD_COLOURS[7],
    "dark": theme.NIGHT,
    "pale": theme.LIGHT,
}


@dataclass(frozen=True, slots=True)
class BeamBox:
    """A node of the tree as it is drawn: its numbers as texts, and its rows with and without dropped branches."""

    parent: int | None
    step: int
    token: Token
    total: str
    score: str | None
    badge: str
    role: str
    row: int
    folded: int | None
    fate: str


@dataclass(frozen=True, slots=True)
class BeamPicture:
    """The tree; `chosen` is the node that is open, `name` that of saved pictures."""

    nodes: Sequence[BeamBox]
    chosen: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    roles: Mapping[str, Text]
    colours: Mapping[str, str]


def beam_picture(tree: "BeamTree", *, chosen: int, on_choose: Callable[[int], object], key: str, name: str) -> None:
    """Show the tree; `on_choose` is called before the next run with the node that a person opened."""
    picture = BeamPicture(_boxes(tree), chosen, name, story.ROLES, _COLOURS)
    _COMPONENT.show(picture, key=key, node=hear(on_choose, int, node=range(len(tree.nodes))))


def _boxes(tree: "BeamTree") -> list[BeamBox]:
    roles, rows = story.roles(tree), story.rows(tree, range(len(tree.nodes)))
    folded = story.rows(tree, story.living(tree))
    return [
        BeamBox(
            parent=node.parent,
            step=node.step,
            token=node.token,
            total=decimal(node.total),
            score=None if node.score is None else decimal(node.score, 3),
            badge=_badge(tree, node.index),
            role=roles[node.index],
            row=rows[node.index],
            folded=folded.get(node.index),
            fate=story.fate(tree, node.index),
        )
        for node in tree.nodes
    ]


def _badge(tree: "BeamTree", index: int) -> str:
    score = tree.nodes[index].score
    if score is None:
        return ""
    rank = story.finish_rank(tree, index)
    return decimal(score, 3) if rank is None else f"{rank} · {decimal(score, 3)}"
