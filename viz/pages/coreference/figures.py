"""Draw what heads do with pronouns: in the sentences of a pair, over a whole set, and in two models."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float

from viz import theme
from viz.pictures.figures import charts
from viz.pictures.figures.heads import ROW_HEIGHT, Scale, frame_cells, matrix, signed_scale
from viz.pictures.focus import Place
from viz.text.messages import _, shown
from viz.text.written import NAMES, display_token, head_label, head_numbers, layer_labels, signed

if TYPE_CHECKING:
    from model.analysis.metrics.head_metrics import HeadName

#: Pixels of a layer where all attentions are in one map, of what is beside its layers, and of the largest such map.
EVERY_LAYER_HEIGHT, BESIDE_EVERY_LAYER, MAX_EVERY_HEAD = 17, 100, 720
#: Pixels of a layer, of what is beside the layers, of the smallest map, and of a bar.
LAYER_HEIGHT, BESIDE_LAYERS, MIN_MAP_HEIGHT, BAR_HEIGHT = 42, 60, 220, 22
#: Pixels of what is beside the rows of a map of groups, and of the smallest such map.
BESIDE_GROUPS, MIN_GROUPS_HEIGHT = 90, 190
#: With more heads than this, numbers no longer fit into the cells.
MAX_NUMBERED: Final = 12
HEIGHT: Final = 330
#: Beside a probability of 1 its number has room.
LONGEST_BAR: Final = 2.4
#: Room for the buttons of a chart, where a number of its first bar would lie under them.
BUTTONS_HEIGHT: Final = 24
#: Margins smaller than this everywhere are drawn as the small ones they are.
MARGIN_FLOOR: Final = 0.01
#: Pixels above the cells for the buttons of a chart, and the names of columns below these.
ABOVE_CELLS: Final = 50
#: Of so many heads the numbers have room for larger letters on a telephone.
FEW_HEADS: Final = 8
#: With more cells than this, marks that can be clicked would make the picture slow.
MOST_CELLS: Final = 2_500


def movement_map(
    values: Float[np.ndarray, "layer head"],
    parts: Float[np.ndarray, "layer head sentence candidate"],
    names: Sequence[str],
    *,
    site: str,
    number: str,
    averaged: bool,
    opened: tuple[int, int],
    bound: float,
) -> go.Figure:
    """Layer × head: warm where a head moves to the right antecedent, cold where it moves away. Cells can be clicked.

    Args:
        values: how far each head moves.
        parts: the weights that it is made of, on hover.
        names: of the heads, layer by layer, on hover.
        number: what a weight is called.
        averaged: whether the one column is all heads of a layer.
        opened: the layer and head to be framed.
        bound: the colours reach to ± this, the same for all attentions.
    """
    layers, heads = values.shape
    figure = matrix(
        values,
        values,
        layer_labels(layers),
        [_("all heads")] if averaged else head_numbers(heads),
        scale=signed_scale(_("movement"), values, floor=bound),
        hover="",
    )
    heatmap = figure.data[0]
    if heads <= MAX_NUMBERED:
        # In a narrow picture plotly would shrink them until nobody can read them; so the scale lies below the cells.
        heatmap.update(colorbar={"orientation": "h", "y": 0, "yanchor": "top", "xpad": 20})
        texts = [signed(float(value)) for value in values.flat]
        figure.add_trace(_written(values, texts, heatmap.zmax, size=11 if heads <= FEW_HEADS else 9))
    heatmap.update(hoverinfo="skip", hovertemplate=None)
    figure.add_trace(_cells(values, parts, names, number))
    layer, head = opened
    frame_cells(figure, (layer, layer), (head, head), {"color": theme.ORANGE, "width": 3})
    # The names of the columns stand below the buttons of the chart.
    figure.update_layout(
        height=max(MIN_MAP_HEIGHT, layers * LAYER_HEIGHT + BESIDE_LAYERS) + ABOVE_CELLS // 2,
        margin_t=ABOVE_CELLS,
        xaxis_tickangle=0,
    )
    if not averaged:
        charts.spots(figure, heads=charts.head_cells(site, values.shape))
    return figure


def _cells(
    values: Float[np.ndarray, "layer head"],
    parts: Float[np.ndarray, "layer head sentence candidate"],
    names: Sequence[str],
    number: str,
) -> go.Scatter:
    custom = [
        [*cell, name, signed(float(values[cell]), 4), *(f"{part:.4f}" for part in parts[cell].ravel())]
        for cell, name in zip(np.ndindex(values.shape), names, strict=True)
    ]
    hover = (
        "<b>%{customdata[2]}</b>",
        _("movement {value}", value="%{customdata[3]}"),
        _("{number} on antecedent / distractor", number=number),
        _("first sentence {values}", values="%{customdata[4]} / %{customdata[5]}"),
        _("second sentence {values}", values="%{customdata[6]} / %{customdata[7]}"),
    )
    return _marks(values.shape, custom, "<br>".join(hover), size=40)


def _marks(shape: tuple[int, ...], custom: list[list[object]], hover: str, *, size: int) -> go.Scatter:
    """A transparent mark on each cell of a map: plotly reports clicks on points, not on cells."""
    rows, columns = zip(*np.ndindex(shape), strict=True)
    return go.Scatter(
        x=columns,
        y=rows,
        customdata=custom,
        mode="markers",
        marker={"size": size, "symbol": "square", "opacity": 0, "color": "rgba(0,0,0,0)"},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        xaxis="x2",
        yaxis="y2",
        hovertemplate=f"{hover}<extra></extra>",
    )


def _written(values: Float[np.ndarray, "row column"], texts: Sequence[str], bound: float, *, size: int) -> go.Scatter:
    """Texts on the cells of a map of signed values, in inks that can be read there: plotly's own may be too pale."""
    rows, columns = zip(*np.ndindex(values.shape), strict=True)
    shades = np.nan_to_num(0.5 + values.ravel() / (2 * bound), nan=0.5)
    return go.Scatter(
        x=columns,
        y=rows,
        text=texts,
        mode="text",
        textfont={"size": size, "color": [theme.ink_on(theme.colour_at(at, theme.DIVERGING)) for at in shades]},
        # Without a colour for what is selected, plotly would dim all else.
        selected={"textfont": {"color": theme.BLACK}},
        xaxis="x2",
        yaxis="y2",
        hoverinfo="skip",
    )


def every_head_height(layers: int) -> int:
    """Pixels of the map of every head, of so many layers of all attentions."""
    return min(MAX_EVERY_HEAD, max(MIN_MAP_HEIGHT, layers * EVERY_LAYER_HEIGHT + BESIDE_EVERY_LAYER))


def every_head_map(
    values: Float[np.ndarray, "head"],
    heads: "Sequence[HeadName]",
    *,
    title: str,
    bound: float,
    flips: Bool[np.ndarray, "head"] | None = None,
    keys: Sequence[str] = (),
    framed: tuple[str, int, int] | None = None,
) -> go.Figure:
    """A number of every head of every attention in one map, the layers of one below those of another. Cells can be
    clicked.

    Args:
        values: NaN where a head has none.
        title: what the number is called.
        bound: the scale reaches at least this far from 0.
        flips: which are marked by a cross.
        keys: of each head, the token that it points at, on hover.
        framed: site, layer and head that are framed.
    """
    rows = list(dict.fromkeys((head.site, head.layer) for head in heads))
    table = np.full((len(rows), 1 + max(head.head for head in heads)), np.nan)
    custom: dict[tuple[int, int], list[object]] = {cell: [] for cell in np.ndindex(table.shape)}
    crosses = np.full(table.shape, "", dtype=object)
    for number, head in enumerate(heads):
        cell = rows.index((head.site, head.layer)), head.head
        table[cell] = values[number]
        crosses[cell] = "×" if flips is not None and flips[number] else ""
        name, key = head_label(head.layer, head.head, head.site), keys[number] if keys else ""
        custom[cell] = [
            *head, name, signed(float(values[number]), 2), f" → {escape(display_token(key))}" if key else "",
        ]  # fmt: skip
    of_row = [site for site, _layer in rows]
    begins = [of_row.index(site) for site in dict.fromkeys(of_row)]
    labels = [
        f"{_(NAMES[site].short)} L{layer + 1}" if number in begins and len(begins) > 1 else f"L{layer + 1}"
        for number, (site, layer) in enumerate(rows)
    ]
    figure = matrix(
        table,
        table,
        labels,
        [str(number + 1) for number in range(len(table.T))],
        scale=signed_scale(title, table[~np.isnan(table)], floor=bound),
        hover="",
    )
    figure.data[0].update(hoverinfo="skip", hovertemplate=None)
    figure.add_trace(_written(table, [*crosses.flat], figure.data[0].zmax, size=13))
    hover = f"<b>%{{customdata[3]}}</b>%{{customdata[5]}}<br>{shown(title)} %{{customdata[4]}}"
    figure.add_trace(_marks(table.shape, [*custom.values()], hover, size=14))
    charts.spots(figure, heads=((head, charts.cell(rows.index((head.site, head.layer)), head.head)) for head in heads))
    for begin in begins[1:]:
        figure.add_hline(begin - 0.5, line={"color": theme.CHART_TEXT, "width": 1})
    if framed is not None:
        site, layer, column = framed
        row = rows.index((site, layer))
        frame_cells(figure, (row, row), (column, column), {"color": theme.GREEN, "width": 3})
    # Below the map the bar leaves its cells the width of a third of the page.
    bar = {
        "orientation": "h",
        "y": -0.02,
        "yanchor": "top",
        "x": 0.5,
        "xanchor": "center",
        "len": 1.0,
        "thickness": 8,
        "xpad": 20,
    }
    figure.update_traces(colorbar=bar | {"title": {"side": "top"}}, selector={"type": "heatmap"})
    figure.update_layout(
        height=every_head_height(len(rows)), xaxis={"tickangle": 0, "title": {"text": _("head"), "standoff": 2}}
    )
    return figure


def form_bars(probabilities: Mapping[str, float], written: str, places: Sequence[Place]) -> go.Figure:
    """How probable each German pronoun is at one step; the one that is written, at `places`, is dark and says so."""
    forms = list(probabilities)
    plain = [escape(form, quote=False) for form in forms]
    labels = [f"<b>{text}</b>" if form == written else text for form, text in zip(forms, plain, strict=True)]
    figure = go.Figure(
        go.Bar(
            x=list(probabilities.values()),
            y=list(range(len(forms))),
            orientation="h",
            marker={"color": [theme.BLUE if form == written else theme.GREY for form in forms]},
            text=[
                _("{value:.3f} (written)", value=value) if form == written else f"{value:.3f}"
                for form, value in probabilities.items()
            ],
            textposition="outside",
            cliponaxis=False,
            customdata=labels,
            hovertemplate=_("{form}: probability {value}", form="%{customdata}", value="%{x:.4f}") + "<extra></extra>",
        ),
        theme.figure_layout(len(forms) * BAR_HEIGHT + BUTTONS_HEIGHT + 8),
    )
    figure.update_layout(margin_t=BUTTONS_HEIGHT)
    figure.update_xaxes(range=[0, LONGEST_BAR], visible=False, fixedrange=True)
    bars = ((places, (0, LONGEST_BAR, row - 0.5, row + 0.5)) for row, form in enumerate(forms) if form == written)
    charts.spots(figure, words=bars)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(forms))),
        ticktext=labels,
        tickfont={"size": 14},
        range=[len(forms) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        ticks="",
        automargin=True,
        fixedrange=True,
    )
    return figure


def mark_columns(figure: go.Figure, columns: Sequence[int], *, rows: int, colour: str, dash: str) -> None:
    """Frame columns of a matrix, each run of neighbours as one."""
    starts = [column for column in columns if column - 1 not in columns]
    ends = [column for column in columns if column + 1 not in columns]
    for start, end in zip(starts, ends, strict=True):
        frame_cells(figure, (0, rows - 1), (start, end), {"color": colour, "width": 2, "dash": dash})


def group_map(
    groups: Mapping[str, Float[np.ndarray, "layer head"]], names: Sequence[str], heads: Sequence[charts.Head]
) -> go.Figure:
    """Accuracy in each group of sentences: a row a group, a column a head."""
    values = np.stack([of_group.ravel() for of_group in groups.values()])
    ticks = tuple((share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    figure = matrix(
        values,
        values,
        [escape(group or _("(no group)"), quote=False) for group in groups],
        list(names),
        scale=Scale(_("accuracy"), theme.DIVERGING, 0.0, 1.0, ticks),
        hover=_(
            "<b>{group}</b>, <b>{head}</b><br>accuracy {share}", group="%{y}", head="%{x}", share="%{customdata:.1%}"
        ),
    )
    # Of categories plotly names as many as have room beside one another.
    categories = {"type": "category", "tickmode": "auto", "tickvals": None, "ticktext": None}
    figure.update_traces(x=names, selector={"type": "heatmap"})
    height = max(MIN_GROUPS_HEIGHT, len(groups) * ROW_HEIGHT + BESIDE_GROUPS)
    figure.update_layout(height=height, xaxis=categories | {"categoryarray": names}, xaxis2=categories)
    charts.spots(figure, heads=((head, charts.column_of(column, len(groups))) for column, head in enumerate(heads)))
    return figure


def margin_bars(margins: Float[np.ndarray, "row"], sentences: Sequence[str]) -> go.Figure:
    """How far the model prefers the right pronoun in each sentence, from the least to the most; wrong ones orange."""
    order = np.argsort(margins, kind="stable")
    bars = go.Bar(
        x=np.arange(1, len(order) + 1),
        y=margins[order],
        marker={"color": [theme.BLUE if margins[i] > 0 else theme.ORANGE for i in order]},
        customdata=[escape(_cut(sentences[i]), quote=False) for i in order],
        hovertemplate=_("{sentence}<br>log-odds {margin} nats", sentence="%{customdata}", margin="%{y:+.2f}")
        + "<extra></extra>",
    )
    return go.Figure(
        [bars],
        theme.figure_layout(HEIGHT)
        | {
            "bargap": 0.15,
            "xaxis": {"title": {"text": _("sentence, by log-odds")}, "showgrid": False, "zeroline": False},
            "yaxis": {"title": {"text": _("log p(right) − log p(wrong)")}, "zeroline": True},
        },
    )


def _cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"


def distance_map(
    distances: Float[np.ndarray, "first second"],
    first: "Sequence[HeadName]",
    second: "Sequence[HeadName]",
    *,
    matching: Sequence[tuple[int, int]],
    opened: tuple[int, int],
) -> go.Figure:
    """A row per head of the first model, a column per head of the second; cells can be clicked up to `MOST_CELLS`.

    Args:
        distances: in bits, 0 to 1; the nearer, the lighter.
        matching: cells of the best one-to-one matching, which get a dot.
        opened: the cell of the two heads that are shown, which gets a ring.
    """
    rows, columns = ([head_label(head.layer, head.head) for head in heads] for heads in (first, second))
    top = max(float(distances.max(initial=0.0)), 0.05)
    ticks = tuple((-part * top, f"{part * top:.2f}") for part in (0, 0.25, 0.5, 0.75, 1))
    figure = matrix(
        distances,
        -distances,
        rows,
        columns,
        scale=Scale(_("bits"), theme.SEQUENTIAL, -top, 0.0, ticks),
        hover=_hover("%{y}", "%{x}", "%{customdata:.3f}"),
    )
    dots = go.Scatter(
        x=[column for _, column in matching],
        y=[row for row, _ in matching],
        mode="markers",
        marker={"size": 6, "color": theme.ORANGE, "line": {"width": 1, "color": theme.NIGHT}},
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    row, column = opened
    ring = go.Scatter(
        x=[column],
        y=[row],
        mode="markers",
        marker={"size": 17, "symbol": "circle-open", "color": theme.GREEN, "line": {"width": 3}},
        hoverinfo="skip",
        xaxis="x2",
        yaxis="y2",
    )
    cells = [] if distances.size > MOST_CELLS else [_distance_cells(distances, first, rows, columns)]
    return go.Figure([*figure.data, dots, ring, *cells], figure.layout)


def _hover(first: str, second: str, bits: str) -> str:
    """Both heads and how far they are apart, each as a name of plotly's."""
    return _("<b>{first}</b> and <b>{second}</b><br>{bits} bits apart", first=first, second=second, bits=bits)


def _distance_cells(
    distances: Float[np.ndarray, "first second"],
    first: "Sequence[HeadName]",
    rows: Sequence[str],
    columns: Sequence[str],
) -> go.Scatter:
    custom: list[list[object]] = [
        [first[i].layer, first[i].head, float(distances[i, j]), rows[i], columns[j]]
        for i, j in np.ndindex(distances.shape)
    ]
    return _marks(
        distances.shape, custom, _hover("%{customdata[3]}", "%{customdata[4]}", "%{customdata[2]:.3f}"), size=16
    )
