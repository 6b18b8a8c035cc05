"""Write a pair as CSV: how far every head moves, and the rows of a layer; all counts from 0, a rollout has no head."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.ui.trace_tables import Row, cell, digits, table

if TYPE_CHECKING:
    from viz.pages.coreference.side_by_side import data


def movements(
    values: Float[np.ndarray, "layer head"], parts: Float[np.ndarray, "layer head sentence candidate"]
) -> bytes:
    """A row for each head: what its pronouns' rows give to antecedent and distractor, and how far it moves."""
    layers, heads = values.shape
    flat = digits(np.concatenate([parts.reshape(layers * heads, -1), values.reshape(-1, 1)], axis=1))
    titles = ("antecedent_0", "distractor_0", "antecedent_1", "distractor_1", "movement")
    indices = np.ndindex(layers, heads)
    rows = ((layer, head if heads > 1 else "", *row) for (layer, head), row in zip(indices, flat, strict=True))
    return table(("layer", "head", *titles), rows)


def pair_rows(layer: int, sides: "Sequence[data.Row]") -> bytes:
    """A row for each sentence, head and key: what the head gives it, and the role that it plays."""
    return table(("sentence", "layer", "head", "key_position", "key", "role", "value"), _pair_rows(layer, sides))


def _pair_rows(layer: int, sides: "Sequence[data.Row]") -> Iterator[Row]:
    for sentence, side in enumerate(sides):
        role_of = {column: role for role, columns in side.marked.items() for column in columns}
        for head, numbers in enumerate(digits(side.values)):
            name = head if len(side.values) > 1 else ""
            for position, (label, number) in enumerate(zip(side.labels, numbers, strict=True)):
                yield sentence, layer, name, position, cell(label), role_of.get(position, ""), number
