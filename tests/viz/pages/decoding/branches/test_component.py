"""What the tree of branches sends to the browser, and what it may send back."""

import math
from collections.abc import Sequence

import pytest

from tests.viz.sent import caught, unpack
from viz.pages.decoding.branches.tab import BranchRow, BranchTree, TreeAct, branch_tree, in_order
from viz.pictures.payload import pack


def row(number: int, parent: int | None, start: int, name: str = "") -> BranchRow:
    return BranchRow(number, parent, start, 10, name, "", (), -1.0)


def tree(rows: Sequence[BranchRow]) -> BranchTree:
    return BranchTree(branches=rows, shown=0, against=None, step=0, name="x")


def test_a_branch_stands_below_its_parent_and_late_ones_above_early_ones() -> None:
    rows = [row(0, None, 0), row(1, 0, 2), row(2, 0, 7), row(3, 1, 4)]
    assert [one.number for one in in_order(rows)] == [0, 2, 1, 3]


def test_text_reaches_the_browser_with_every_control_made_visible() -> None:
    rows = [BranchRow(0, None, 0, 3, "own", "", (("a\u202eb \x07", True), (" c", False)), -1.0)]
    assert unpack(pack(tree(rows)))[0]["rows"][0]["words"] == [["a\\u202eb ␇", True], [" c", False]]


def test_what_rules_forbid_reaches_the_browser_without_a_number() -> None:
    rows = [BranchRow(0, None, 0, 3, "own", "", (), -math.inf)]
    assert unpack(pack(tree(rows)))[0]["rows"][0]["logProb"] is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        "show",
        {},
        {"what": "show"},
        {"what": "show", "branch": 3},
        {"what": "show", "branch": -1},
        {"what": "show", "branch": True},
        {"what": "show", "branch": "1"},
        {"what": "remove", "branch": 0},
        {"what": "drop", "branch": 1},
        {"what": ["show"], "branch": 1},
    ],
)
def test_what_no_row_can_send_is_ignored(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, acts = caught(monkeypatch), list[TreeAct]()
    rows = [row(0, None, 0), row(1, 0, 2), row(2, 0, 7)]
    branch_tree(tree(rows), on_act=acts.append, key="tree")
    shown[0].answers["act"](value)
    assert acts == []
    shown[0].answers["act"]({"what": "remove", "branch": 2})
    assert acts == [TreeAct("remove", 2)]
