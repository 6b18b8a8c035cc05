"""Write an atlas of heads as CSV; sites are named as in arrays, layers and heads count from 0."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.ui.trace_tables import digits, table

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


def one_metric(values: Float[np.ndarray, "layer head"]) -> bytes:
    """One metric at one site: a row for each layer, a column for each head, nothing where there is no metric."""
    rows = ((layer, *_known(numbers)) for layer, numbers in enumerate(digits(values)))
    return table(("layer", *(f"head_{head}" for head in range(values.shape[1]))), rows)


def all_metrics(atlas: "Atlas", sites: Sequence[str]) -> bytes:
    """Every metric of every head: a row for each head of the model."""
    indices = list(np.ndindex(*atlas.mean_outputs.shape[:3]))
    columns = digits(np.stack([values.ravel() for values in atlas.metrics.values()], axis=1))
    rows = (
        (sites[site], layer, head, *_known(numbers))
        for (site, layer, head), numbers in zip(indices, columns, strict=True)
        if _is_there(atlas, sites[site], layer, head)
    )
    return table(("site", "layer", "head", *atlas.metrics), rows)


def _is_there(atlas: "Atlas", site: str, layer: int, head: int) -> bool:
    of_layers = atlas.heads.get(site, ())
    return layer < len(of_layers) and head < of_layers[layer]


def distances(values: Float[np.ndarray, "layer_head layer_head"], heads: int) -> bytes:
    """How far heads of a site are from one another: a row and a column for each, named layer.head."""
    names = [f"{index // heads}.{index % heads}" for index in range(len(values))]
    return table(("layer.head", *names), ((name, *row) for name, row in zip(names, digits(values), strict=True)))


def _known(numbers: Sequence[str]) -> list[str]:
    return ["" if number == "nan" else number for number in numbers]
