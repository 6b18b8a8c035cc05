"""A small tree made by hand, and what the page was sent."""

from model import BeamNode, BeamTree
from model.decoding.beam import Fate


def node(
    index: int,
    parent: int | None,
    step: int,
    rank: int,
    fate: Fate = "continued",
    fate_step: int = 0,
    score: float | None = None,
    row: int | None = None,
) -> BeamNode:
    return BeamNode(
        index=index, parent=parent, token_id=index, token=f"t{index}", step=step, rank=rank, log_prob=-0.5,
        total=-float(index), row=row, fate=fate, fate_step=fate_step, score=score,
    )  # fmt: skip


def by_hand() -> BeamTree:
    """<s> with two kept children and one that is not; under each kept one, something of every fate."""
    nodes = (
        node(0, None, -1, 0, row=0),
        node(1, 0, 0, 0, row=0),
        node(2, 0, 0, 1, row=1),
        node(3, 0, 0, 2, "outranked", 0),
        node(4, 2, 1, 0, "finished", 1, score=-1.5),
        node(5, 1, 1, 1, "finished", 1, score=-2.0),
        node(6, 1, 1, 2, "outranked", 2, row=0),
        node(7, 2, 1, 3, "outscored", 2, score=-9.0),
        node(8, 2, 1, 4, "search over", 1),
    )
    return BeamTree(width=2, alpha=0.6, limit=7, nodes=nodes, hypotheses=(4, 5))
