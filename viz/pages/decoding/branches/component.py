"""The tree of translations, drawn in the browser: each where it leaves another, what was done there, and its text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from viz.pictures.component import Component
from viz.pictures.payload import LOCAL, LogProb, encoded, hear
from viz.text import token_text
from viz.theme import HEAD_COLOURS

_COMPONENT: Final = Component("pages/decoding/branches/branch_tree.js", "pages/decoding/branches/branch_tree.css")


def _visible(text: str) -> str:
    """Words as they can be shown, with the spaces between and before them."""
    return " ".join(word and token_text.display_token(word) for word in text.split(" "))


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A translation; number 0 is the model's own.

    Attributes:
        parent, start: the branch that it leaves, and the step at which it does; None and 0 for the model's own.
        length: its steps.
        deed: what was done.
        words: its text in pieces with the spaces before them, each with whether the one that it leaves has the same
            there.
        log_prob: of all of it, in nats; None of a branch that is not written yet.
    """

    number: int
    parent: int | None
    start: int
    length: int
    name: str
    deed: str
    words: tuple[tuple[Annotated[str, _visible], bool], ...]
    log_prob: LogProb | None

    def derived(self) -> dict[str, object]:
        """Whether all of it is known."""
        return {"is_written": self.log_prob is not None}


@dataclass(frozen=True, slots=True)
class TreeAct:
    """What a person wants, of which branch."""

    what: Literal["show", "compare", "remove"]
    branch: int


def in_order(rows: Sequence[BranchRow]) -> list[BranchRow]:
    """Every branch below the one that it leaves, those that leave it late above those that leave it early.

    So no line to a branch crosses another one.
    """
    ordered: list[BranchRow] = []

    def put(row: BranchRow) -> None:
        ordered.append(row)
        children = [child for child in rows if child.parent == row.number]
        for child in sorted(children, key=lambda child: (-child.start, child.number)):
            put(child)

    put(rows[0])
    return ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchTree:
    """The tree.

    Attributes:
        branches: number 0 first.
        shown, against: the branch that the page shows, and the one that it is compared with.
        step: of the branch shown.
        name: of saved pictures, without their ending.
        text_language: of the texts, as HTML names it; "" if unknown.
    """

    branches: Annotated[Sequence[BranchRow], LOCAL]
    shown: int
    against: int | None
    step: int
    name: str
    text_language: str = ""
    shown_colour: str = HEAD_COLOURS[0]
    against_colour: str = HEAD_COLOURS[1]

    def derived(self) -> dict[str, object]:
        """The branches in the order in which they are drawn."""
        return {"rows": [*map(encoded, in_order(self.branches))]}


def branch_tree(tree: BranchTree, *, on_act: Callable[[TreeAct], object], key: str) -> None:
    """Show the tree; `on_act` is called before the next run, with what a person wants."""

    def take(act: TreeAct) -> None:
        # The model's own translation stays.
        if (act.what, act.branch) != ("remove", 0):
            on_act(act)

    _COMPONENT.show(tree, key=key, act=hear(take, TreeAct, branch=range(len(tree.branches))))
