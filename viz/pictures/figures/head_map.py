"""Draw a number of every head of a site as a map; on hover "L3 H2" is head 2 of layer 3."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pictures.figures import spots
from viz.pictures.figures.matrix import Scale, matrix
from viz.text.messages import _, shown
from viz.text.numbers import decimal, signed
from viz.text.sites import head_label, head_numbers, layer_labels


def short_names(layers: int, heads: int, *, averaged: bool = False) -> list[str]:
    """Every head as "L3 H2", in the order of a table [layer, head]; where heads are averaged, "L3, all heads"."""
    return [head_label(layer, None if averaged else head) for layer, head in np.ndindex(layers, heads)]


def head_map(
    values: Float[np.ndarray, "layer head"],
    *,
    title: str,
    centre: float,
    floor: float,
    number: str = ".3f",
    averaged: bool = False,
    marked: tuple[int, int] | None = None,
    site: str = "",
) -> go.Figure:
    """A site's heads, a row a layer: warm above the centre, cold below it.

    Args:
        values: NaN where a head has none.
        title: what the number is called.
        centre: the number that is drawn dark.
        floor: the scale reaches at least this far from the centre.
        number: its format on hover.
        averaged: whether the one column is the mean of heads.
        marked: layer and head that are framed.
        site: whose heads they are, to whoever points at one; "" where they are of no model that is open.
    """
    layers, heads = values.shape
    deviations = np.abs(values - centre)
    bound = max(floor, float(np.nanmax(deviations)) if not np.isnan(deviations).all() else 0.0)
    sign, decimals = "+" if centre == 0 else "", 2 if bound >= 0.05 else 3
    written = signed if sign else decimal
    levels = [centre + bound * k / 2 for k in (-2, -1, 0, 1, 2)]
    ticks = tuple((level, written(level, decimals)) for level in levels)
    columns = [_("all heads")] if averaged else head_numbers(heads)
    figure = matrix(
        values,
        values,
        layer_labels(layers),
        columns,
        scale=Scale(title, theme.DIVERGING, centre - bound, centre + bound, ticks),
        hover=f"<b>%{{y}} %{{x}}</b><br>{shown(title)} %{{customdata:{sign}{number}}}",
    )
    if marked is not None:
        layer, head = marked
        frame_cells(figure, (layer, layer), (head, head), {"color": theme.HEAD_COLOURS[2], "width": 3})
    if site and not averaged:
        spots.show(figure, heads=spots.head_cells(site, values.shape))
    # A colour bar with five labels needs some height, however few layers there are.
    figure.update_layout(height=max(190, layers * 30 + 40), xaxis={"tickangle": 0})
    return figure


def frame_cells(
    figure: go.Figure, rows: tuple[int, int], columns: tuple[int, int], line: Mapping[str, str | int]
) -> None:
    """Frame the cells from a first row and column to a last one, with a line as plotly describes it."""
    box = {"x0": columns[0] - 0.5, "x1": columns[1] + 0.5, "y0": rows[0] - 0.5, "y1": rows[1] + 0.5}
    figure.add_shape(type="rect", line=line, **box)
