"""A beam search as a tree, a column a step, of which a person opens one hypothesis after another.

Sends the tree to `beam_picture.js` and reads back which node a person chose.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from viz.components.declare import declare
from viz.core import fingerprint, payload, theme, token_text
from viz.core.messages import _
from viz.core.numbers import decimal
from viz.core.widget_values import sent
from viz.pages.decoding.beam import story as beam_story

if TYPE_CHECKING:
    from model import BeamTree

_COMPONENT = declare("pages/decoding/beam/beam_picture.js", "pages/decoding/beam/beam_picture.css")
_COLOURS: Final = {
    "winner": theme.HEAD_COLOURS[0],
    "rival": theme.HEAD_COLOURS[1],
    "dropped": theme.HEAD_COLOURS[7],
    "dark": theme.NIGHT,
    "pale": theme.LIGHT,
}


def pack_tree(tree: "BeamTree", *, chosen: int, name: str) -> bytes:
    """The payload of `beam_picture.js`; `chosen` is the node that is open, `name` that of saved pictures."""
    roles = beam_story.roles(tree)
    rows = beam_story.rows(tree, range(len(tree.nodes)))
    folded = beam_story.rows(tree, beam_story.living(tree))
    nodes = [
        {
            "parent": node.parent,
            "step": node.step,
            "token": token_text.display_token(node.token),
            "total": decimal(node.total),
            "score": None if node.score is None else decimal(node.score, 3),
            "badge": _badge(tree, node.index),
            "role": roles[node.index],
            "row": rows[node.index],
            "folded": folded.get(node.index),
            "fate": beam_story.fate(tree, node.index),
        }
        for node in tree.nodes
    ]
    header = {
        "roles": {role: _(meaning) for role, meaning in beam_story.ROLES.items()},
        "colours": _COLOURS,
        "name": name,
    }
    return payload.pack({**header, "nodes": nodes, "digest": fingerprint.digest(repr(nodes)), "chosen": chosen})


def _badge(tree: "BeamTree", index: int) -> str:
    score = tree.nodes[index].score
    if score is None:
        return ""
    rank = beam_story.finish_rank(tree, index)
    return decimal(score, 3) if rank is None else f"{rank} · {decimal(score, 3)}"


def read_node(value: object, nodes: int) -> int | None:
    """The node that the browser sent, if there is one: it may still speak of the tree before."""
    node = value.get("node") if isinstance(value, Mapping) else None
    return node if type(node) is int and 0 <= node < nodes else None


def beam_picture(tree: "BeamTree", *, chosen: int, on_choose: Callable[[int], None], key: str, name: str) -> None:
    """Show the tree; `on_choose` is called before the next run with the node that a person opened."""

    def take() -> None:
        node = read_node(sent(key, "node"), len(tree.nodes))
        if node is not None:
            on_choose(node)

    _COMPONENT(data=pack_tree(tree, chosen=chosen, name=name), key=key, on_node_change=take)
