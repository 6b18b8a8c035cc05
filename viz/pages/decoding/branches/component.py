"""The tree of translations, drawn in the browser: each where it leaves another, what was done there, and its text.

Sends rows to `branch_tree.js` and reads back what a person wants with one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viz.components.declare import declare
from viz.core import payload, token_text
from viz.core.theme import HEAD_COLOURS
from viz.core.widget_values import sent

_COMPONENT = declare("pages/decoding/branches/branch_tree.js", "pages/decoding/branches/branch_tree.css")
#: What can be wanted of a row.
ACTS: Final = ("show", "compare", "remove")


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
    words: tuple[tuple[str, bool], ...]
    log_prob: float | None


@dataclass(frozen=True, slots=True)
class TreeAct:
    """What a person wants, of which branch."""

    what: str
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


def pack_tree(
    rows: Sequence[BranchRow], shown: int, against: int | None, step: int, name: str, language: str = ""
) -> bytes:
    """The payload of `branch_tree.js`: the rows in the order in which they stand, and which of them are marked."""
    header = {
        "rows": [
            {
                "number": row.number,
                "parent": row.parent,
                "start": row.start,
                "length": row.length,
                "name": row.name,
                "deed": row.deed,
                "words": [[_visible(text), same] for text, same in row.words],
                "isWritten": row.log_prob is not None,
                "logProb": None if row.log_prob is None else payload.known_log_prob(row.log_prob),
            }
            for row in in_order(rows)
        ],
        "shown": shown,
        "against": against,
        "step": step,
        "name": name,
        "textLanguage": language,
        "shownColour": HEAD_COLOURS[0],
        "againstColour": HEAD_COLOURS[1],
    }
    return payload.pack(header)


def _visible(text: str) -> str:
    """Words as they can be shown, with the spaces between and before them."""
    return " ".join(word and token_text.display_token(word) for word in text.split(" "))


def read_act(value: object, count: int) -> TreeAct | None:
    """What the browser sent, if there is such a branch; the model's own cannot be removed."""
    if not isinstance(value, Mapping):
        return None
    what, branch = value.get("what"), value.get("branch")
    if what not in ACTS or type(branch) is not int or not 0 <= branch < count or (what == "remove" and branch == 0):
        return None
    return TreeAct(str(what), branch)


def branch_tree(
    rows: Sequence[BranchRow],
    *,
    shown: int,
    against: int | None,
    step: int,
    on_act: Callable[[TreeAct], None],
    key: str,
    name: str,
    language: str = "",
) -> None:
    """Show the tree.

    Args:
        rows: number 0 first.
        shown, against: the branch that the page shows, and the one that it is compared with.
        step: of the branch shown.
        on_act: called before the next run, with what a person wants.
        key: of the component.
        name: of saved pictures, without their ending.
        language: of the texts, as HTML names it; "" if unknown.
    """

    def take() -> None:
        act = read_act(sent(key, "act"), len(rows))
        if act is not None:
            on_act(act)

    _COMPONENT(data=pack_tree(rows, shown, against, step, name, language), key=key, on_act_change=take)
