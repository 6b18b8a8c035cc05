"""What the coreference lab shows of a pair, as tables: how far every head moves, and the rows of a layer.

CSV as `viz.ui.trace_tables` writes it. Sentences, layers, heads and places count from 0; a rollout has no head. Knows
nothing of Streamlit or of how the numbers are computed.
"""

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
    rows = (
        (layer, head if heads > 1 else "", *flat[layer * heads + head])
        for layer in range(layers)
        for head in range(heads)
    )
    return table(("layer", "head", *titles), rows)


def pair_rows(layer: int, sides: "Sequence[data.Row]") -> bytes:
    """A row for each sentence, head and key: what the head gives it, and the role that it plays."""
    return table(("sentence", "layer", "head", "place", "key", "role", "value"), _pair_rows(layer, sides))


def _pair_rows(layer: int, sides: "Sequence[data.Row]") -> Iterator[Row]:
    for sentence, side in enumerate(sides):
        role_of = {column: role for role, columns in side.marked.items() for column in columns}
        for head, numbers in enumerate(digits(side.values)):
            name = head if len(side.values) > 1 else ""
            for place, (label, number) in enumerate(zip(side.labels, numbers, strict=True)):
                yield sentence, layer, name, place, cell(label), role_of.get(place, ""), number
