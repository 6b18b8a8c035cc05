"""Say what a beam search did with each hypothesis: its role, its fate as a sentence, its rank; all counted from 1."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from viz.text.messages import _, said

if TYPE_CHECKING:
    from model import BeamNode, BeamTree

#: The parts a hypothesis can play, and what they mean; the first that fits is said.
ROLES: Final[Mapping[str, str]] = {
    "winner": said("the winner"),
    "rival": said("finished rivals"),
    "lived": said("kept for some steps"),
    "dropped": said("dropped"),
}


def roles(tree: "BeamTree") -> list[str]:
    """The role of each node, in their order."""
    won = {0, *(node.index for node in tree.path(tree.hypotheses[0]))}
    rivals = {node.index for end in tree.hypotheses[1:] for node in tree.path(end)}
    return [
        "winner"
        if node.index in won
        else "rival"
        if node.index in rivals
        else "lived"
        if node.fate == "continued"
        else "dropped"
        for node in tree.nodes
    ]


def rows(tree: "BeamTree", shown: Collection[int]) -> dict[int, int]:
    """Assign each shown node a row in its step's column so that no two edges of the tree cross.

    Children stand in the order of their parents, and siblings by rank, but the winner and its ancestors come first and
    so are a straight line.
    """
    won = {0, *(node.index for node in tree.path(tree.hypotheses[0]))}
    children: dict[int, list[BeamNode]] = {}
    for node in tree.nodes:
        if node.parent is not None and node.index in shown:
            children.setdefault(node.parent, []).append(node)
    row_of: dict[int, int] = {}
    column = [0]
    while column:
        row_of |= {index: row for row, index in enumerate(column)}
        column = [
            child.index
            for parent in column
            for child in sorted(children.get(parent, ()), key=lambda node: (node.index not in won, node.rank))
        ]
    return row_of


def living(tree: "BeamTree") -> set[int]:
    """The nodes that were kept for at least a step or returned: what stays of the tree without its dropped leaves."""
    parts = roles(tree)
    return {node.index for node in tree.nodes if parts[node.index] != "dropped"}


def closest_rival(tree: "BeamTree", step: int | None, token_id: int | None = None) -> int:
    """The hypothesis to open: what came closest to the winner at a step; the winner where nothing was beside it.

    Of what was compared with one of the winner's ancestors, after the same tokens: at this step the one with this
    token, else the best; without any there, of all steps the one that was least behind.
    """
    won = (tree.nodes[0], *tree.path(tree.hypotheses[0]))
    after = {parent.index: child for parent, child in pairwise(won)}
    rivals = [node for node in tree.nodes if node.parent in after and node is not after[node.parent]]
    at_step = [node for node in rivals if node.step == step]
    there = [node for node in at_step if node.token_id == token_id] or at_step or rivals

    def behind(node: "BeamNode") -> float:
        assert node.parent is not None, "a rival follows an ancestor of the winner"
        return after[node.parent].total - node.total

    return min(there, key=behind, default=tree.winner).index


def finish_rank(tree: "BeamTree", node: int) -> int | None:
    """The place of a hypothesis among those that the search returned, from 1; None if it did not."""
    return tree.hypotheses.index(node) + 1 if node in tree.hypotheses else None


def fate(tree: "BeamTree", index: int) -> str:
    """What became of a hypothesis, when and why, as a sentence."""
    node, width = tree.nodes[index], tree.width
    began, step = node.step + 1, node.fate_step + 1
    if node.parent is None:
        return _("The beginning: all hypotheses start here.")
    if node.fate == "continued":
        return _("Kept in step {step}: at least one of its continuations was kept or finished.", step=began)
    if node.fate in ("finished", "length limit"):
        return _returned(tree, index)
    if node.fate == "outscored":
        return _(
            "Finished in step {began}, dropped in step {step}: by then {width} finished hypotheses had better scores.",
            began=began,
            step=step,
            width=width,
        )
    if node.fate == "search over":
        return _(
            "Still kept when the search stopped after step {step}: it could no longer beat the finished ones.",
            step=step,
        )
    if node.fate_step > node.step:
        return _(
            "Kept in step {began}, dropped in step {step}: none of its continuations was good enough.",
            began=began,
            step=step,
        )
    return _(
        "Dropped in step {step}, where it was compared: rank {rank}, and at most {width} are kept.",
        step=step,
        rank=node.rank + 1,
        width=width,
    )


def _returned(tree: "BeamTree", index: int) -> str:
    """How a hypothesis ended that the search returned, and its place."""
    node = tree.nodes[index]
    step, rank, count = node.fate_step + 1, finish_rank(tree, index), len(tree.hypotheses)
    if node.fate == "finished":
        return _(
            "Finished in step {step} and returned: rank {rank} of {count} by score.", step=step, rank=rank, count=count
        )
    return _(
        "Cut off at the longest translation, {limit} tokens, in step {step} and returned: rank {rank} of {count} by "
        "score.",
        limit=tree.limit,
        step=step,
        rank=rank,
        count=count,
    )
