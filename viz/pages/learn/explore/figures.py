"""Figures of the topics: score functions, pooling, and how far the influence of a layer comes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pages.learn.explore.data.pooling import Regression
from viz.pages.learn.explore.data.scores import Heads, Quartiles, Sample
from viz.pictures.figures import charts
from viz.pictures.figures.charts import axis, doubling_axis, headed, note, powers_axis, token_labels, upright
from viz.pictures.figures.heads import WEIGHT_SCALE, matrix
from viz.pictures.figures.traces import dots, line
from viz.text.messages import Message, _, plural, said
from viz.text.written import decimal, head_label, scientific

if TYPE_CHECKING:
    from model.analysis.layer_kinds import Kind

HEIGHT, ERROR_HEIGHT = 400, 250
CURVE, POINT, TRUE = theme.BLUE, theme.ORANGE, theme.GREY
#: Pixels of a point that has no weight, and of one that has all.
_SMALL, _LARGE = 5, 34
NAMES: "Final[Mapping[Kind, Message]]" = {
    "self-attention": said("Self-attention"),
    "recurrent": said("Recurrent (GRU)"),
    "convolution": said("Convolution"),
    "dilated": said("Dilated conv."),
    "restricted": said("Restricted att."),
}
COLOURS: "Final[Mapping[Kind, str]]" = {
    "self-attention": theme.BLUE,
    "recurrent": theme.VERMILLION,
    "convolution": theme.GREEN,
    "dilated": theme.YELLOW,
    "restricted": theme.PURPLE,
}
#: Pixels of one heatmap, between two, and of the margins; influences down to this share of the largest are told apart.
SIDE, GAP, SIDE_REST = 165, 26, 46
LEAST: Final = 1e-5
#: Where the smallest influence that is drawn begins on the scale; exactly none is at its dark end.
_START: Final = 0.15


def pooled_curve(found: Regression, query: float) -> go.Figure:
    """Points as large as the weight that the query gives them (by area), the pooled curve, and the true one."""
    sizes = np.maximum(_SMALL, _LARGE * np.sqrt(found.row))
    chosen = {"color": CURVE, "size": 13, "line": {"color": theme.LIGHT, "width": 2}}
    traces = [
        line(found.queries, found.true, TRUE, _("true curve %{y:.2f}"), width=1.5, dash="dot"),
        dots(
            found.keys,
            found.values,
            {"color": POINT, "size": sizes, "opacity": 0.75, "line": {"width": 0}},
            _("key %{x:.2f}, value %{y:.2f}<br>weight %{customdata:.4f}"),
            customdata=found.row,
        ),
        line(found.queries, found.predicted, CURVE, _("query %{x:.2f}<br>pooled value %{y:.2f}"), width=3),
        dots([query], [found.answer], chosen, _("this query %{x:.2f}<br>pooled value %{y:.2f}")),
    ]
    axes = {"xaxis": axis(_("key, query")) | {"showgrid": False}, "yaxis": axis(_("value"))}
    layout = headed(HEIGHT, _("<b>Values</b> pooled by a query"))
    return go.Figure(traces, layout | axes | {"shapes": [upright(query)]})


def weight_rows(found: Regression, query: float) -> go.Figure:
    """The weights of queries along the curve, a row each, over the keys in their order; framed, the nearest query."""
    figure = matrix(
        found.weights,
        np.sqrt(found.weights),
        [f"{place:.1f}" for place in found.queries],
        [f"{place:.2f}" for place in found.keys],
        scale=WEIGHT_SCALE,
        hover=_("query <b>%{y}</b>, key <b>%{x}</b><br>weight %{customdata:.4f}"),
    )
    row = int(np.abs(found.queries - query).argmin())
    edge = {"color": POINT, "width": 2}
    frame = {"type": "rect", "x0": -0.5, "x1": len(found.keys) - 0.5, "y0": row - 0.5, "y1": row + 0.5, "line": edge}
    rows, keys = np.arange(0, len(found.queries), 10), np.arange(0, len(found.keys), 5)
    figure.data[0].update(xgap=0, ygap=0)
    labels = {"tickfont": {"size": 12, "color": theme.CHART_TEXT}, "tickangle": 0}
    key_labels = {"tickvals": keys, "ticktext": [f"{found.keys[key]:.1f}" for key in keys], "side": "bottom"}
    query_labels = {"tickvals": rows, "ticktext": [f"{found.queries[one]:.0f}" for one in rows]}
    layout = headed(HEIGHT, _("<b>Weights</b> of every query")) | {"shapes": [frame]}
    layout |= {"xaxis": labels | key_labels | {"title": axis(_("key"))["title"]}}
    figure.update_layout(layout | {"yaxis": labels | query_labels | {"title": axis(_("query"))["title"]}})
    return figure


def error_curve(widths: Sequence[float], errors: Sequence[float], width: float) -> go.Figure:
    """The error of left-out points over the kernel's width; upright, the chosen one."""
    curve = line(list(widths), list(errors), CURVE, _("σ = %{x:.2f}<br>error %{y:.3f}"))
    ticks = {"type": "log", "tickvals": [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], "showgrid": False}
    axes = {"xaxis": axis(_("σ, width of the kernel")) | ticks, "yaxis": axis() | {"rangemode": "tozero"}}
    return go.Figure(
        curve, headed(ERROR_HEIGHT, _("<b>Error</b> at held-out points")) | axes | {"shapes": [upright(width)]}
    )


def shades(influence: Float[np.ndarray, "output input"]) -> Float[np.ndarray, "output input"]:
    """Places on the scale: 0 for exactly none, then by the logarithm of the share of the largest."""
    share = np.log10(np.maximum(influence / influence.max(), LEAST)) / -np.log10(LEAST) + 1
    return np.where(influence > 0, _START + (1 - _START) * share, 0.0)


def influence_maps(influences: Sequence[Float[np.ndarray, "output input"]], name: str) -> go.Figure:
    """Outputs down, inputs across, one heatmap for each number of layers, the first on top."""
    count = len(influences)
    inner = count * (SIDE + GAP) - GAP
    layout = theme.figure_layout(inner + SIDE_REST)
    layout["margin"] = layout["margin"] | {"t": 38}
    maps, notes = [], []
    for depth, influence in enumerate(influences):
        end = "" if depth == 0 else str(depth + 1)
        top = inner - depth * (SIDE + GAP)
        maps.append(
            go.Heatmap(
                z=shades(influence),
                customdata=influence / influence.max(),
                zmin=0,
                zmax=1,
                colorscale=theme.colorscale(theme.SEQUENTIAL),
                showscale=False,
                xaxis=f"x{end}",
                yaxis=f"y{end}",
                hovertemplate=_("output %{y}, input %{x}<br>%{customdata:.2g} of the largest") + "<extra></extra>",
            )
        )
        bare = axis() | {"showgrid": False, "showticklabels": False, "ticks": ""}
        layout[f"xaxis{end}"] = bare | {"anchor": f"y{end}"}
        span = [(top - SIDE) / inner, top / inner]
        layout[f"yaxis{end}"] = bare | {"anchor": f"x{end}", "domain": span, "autorange": "reversed"}
        layers = plural("{count} layer", "{count} layers", depth + 1)
        text = f"<b>{name}</b><br>{layers}" if depth == 0 else layers
        notes.append(note(text, 0, 1, "left", 2) | {"xref": f"x{end} domain", "yref": f"y{end} domain"})
    return go.Figure(maps, layout | {"annotations": notes})


#: Function → its name and its formula.
SCORES: Final[Mapping[str, tuple[Message, str]]] = {
    "dot": (said("Dot product"), "q · k"),
    "scaled": (said("Scaled"), "q · k / √d<sub>k</sub>"),
    "additive": (said("Additive"), "v · tanh(q + k)"),
    "general": (said("Bilinear"), "q · W k"),
}
SCORE_COLOURS: Final = {"dot": theme.VERMILLION, "scaled": theme.BLUE, "additive": theme.GREEN, "general": theme.PURPLE}
#: Of the rows of weights, of the curves, and of what is drawn of heads.
ROWS_HEIGHT, CURVES_HEIGHT, HEADS_HEIGHT = 235, 280, 330
#: Spreads of scores that an axis is labelled at.
SPREADS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
#: Below this, a gradient is drawn as none.
LEAST_GRADIENT: Final = 1e-6


def example_row(sample: Sample) -> go.Figure:
    """The weights of one query, largest first, with what is measured of all queries in the corner."""
    keys = len(sample.example)
    bars = go.Bar(
        x=np.arange(1, keys + 1),
        y=sample.example,
        marker={"color": SCORE_COLOURS[sample.name], "line": {"width": 0}},
        hovertemplate=_("key %{x} by weight<br>weight %{y:.4f}") + "<extra></extra>",
    )
    name, formula = SCORES[sample.name]
    measured = _(
        "standard deviation  <b>{spread:.2f}</b><br>entropy  <b>{entropy:.2f}</b> of {most:.0f} "
        "bits<br>gradient  <b>{gradient}</b>",
        spread=sample.spread.median,
        entropy=sample.entropy.median,
        most=np.log2(keys),
        gradient=_short(sample.gradient.median),
    )
    layout = headed(ROWS_HEIGHT, f"<b>{_(name)}</b>  {formula}")
    layout["annotations"].append(note(measured, 1, 1, "right", -4))
    return go.Figure(
        bars,
        layout
        | {
            "bargap": 0.15,
            "xaxis": axis() | {"showgrid": False, "tickvals": [1, keys // 2, keys]},
            "yaxis": axis() | {"range": [0, 1], "tickvals": [0, 0.5, 1]},
        },
    )


def variance_curve(samples: Mapping[str, Sequence[Sample]], width: int) -> go.Figure:
    """The variance of scores over d_k, a line a function, its formula dotted; upright, the chosen width."""
    lines = []
    for of_name in samples.values():
        expected, measured = ([getattr(one, part) for one in of_name] for part in ("expected", "variance"))
        lines.append(_line(of_name, expected, _("formula %{y:,.3g}"), dash="dot", width=1.5))
        lines.append(_line(of_name, measured, _("variance %{y:,.3g}")))
    return _over_width(lines, _("<b>Variance</b> of the scores"), powers_axis(), samples, width)


def entropy_curve(samples: Mapping[str, Sequence[Sample]], width: int) -> go.Figure:
    """The entropy of the weights over d_k, the median of all rows."""
    text = _("entropy %{y:.2f} bits")
    lines = [_medians(of_name, [one.entropy for one in of_name], text) for of_name in samples.values()]
    return _over_width(
        lines, _("<b>Entropy</b> of the weights, bits"), axis() | {"rangemode": "tozero"}, samples, width
    )


def gradient_curve(samples: Mapping[str, Sequence[Sample]], width: int) -> go.Figure:
    """The norm of the softmax's Jacobian over d_k, the median of all rows."""
    text = _("gradient %{y:.2g}")
    lines = [_medians(of_name, [one.gradient for one in of_name], text) for of_name in samples.values()]
    return _over_width(lines, _("<b>Gradient</b> ‖∂ weights / ∂ scores‖"), powers_axis(), samples, width)


def head_cloud(heads: Mapping[str, Heads]) -> go.Figure:
    """Every head twice, scaled and not: how far its scores spread, and the gradient that its softmax lets through."""
    traces = []
    for name, of_name in heads.items():
        labels = [head_label(layer, head, site) for site, layer, head in of_name.places]
        about = [(label, f"{value:.0%}") for label, value in zip(labels, of_name.evenness, strict=True)]
        marker = {"color": SCORE_COLOURS[name], "size": 8, "opacity": 0.8}
        measured = _(
            "standard deviation of scores %{x:.2f}<br>gradient %{y:.2g}<br>entropy %{customdata[1]} of the maximum"
        )
        hover = f"<b>%{{customdata[0]}}</b>, {_(SCORES[name][0]).lower()}<br>{measured}"
        gradients = np.maximum(of_name.gradient, LEAST_GRADIENT)
        traces.append(dots(of_name.spread, gradients, marker, hover, customdata=about))
    figure = go.Figure(
        traces,
        headed(HEADS_HEIGHT, _("<b>Gradient</b> of every head by the standard deviation of its scores"))
        | {
            "xaxis": axis(_("standard deviation of a row's scores, nats"))
            | {"type": "log", "tickvals": SPREADS, "showgrid": False},
            "yaxis": powers_axis(),
        },
    )
    charts.spots(figure, heads=chain(*map(_places, heads.values())))
    return figure


def _places(of_name: Heads) -> Iterator[tuple[charts.Head, charts.Box]]:
    """Where each head is; both axes are logarithmic."""
    places = np.log10(np.maximum([of_name.spread, of_name.gradient], LEAST_GRADIENT)).T.tolist()
    return ((head, (x, x, y, y)) for head, (x, y) in zip(of_name.places, places, strict=True))


def head_row(weights: Mapping[str, Float[np.ndarray, "key"]], key_tokens: Sequence[str]) -> go.Figure:
    """The weights of one row of a head, by each way of scoring, bars beside one another for each key."""
    labels = token_labels(key_tokens)
    positions, weight = list(range(len(labels))), _("weight %{y:.4f}")
    bars = [
        go.Bar(
            x=positions,
            y=values,
            customdata=labels,
            marker={"color": SCORE_COLOURS[name], "line": {"width": 0}},
            hovertemplate=f"<b>%{{customdata}}</b>, {_(SCORES[name][0]).lower()}<br>{weight}<extra></extra>",
        )
        for name, values in weights.items()
    ]
    stride = ceil(len(labels) / 40)
    ticks = {"tickvals": positions[::stride], "ticktext": labels[::stride], "tickangle": -90}
    return go.Figure(
        bars,
        headed(HEADS_HEIGHT, _("<b>Weights</b> of one row"))
        | {
            "barmode": "group",
            "bargap": 0.25,
            "xaxis": axis() | ticks | {"showgrid": False, "automargin": True},
            "yaxis": axis() | {"range": [0, 1], "tickvals": [0, 0.5, 1]},
        },
    )


def _over_width(
    lines: Sequence[go.Scatter],
    heading: str,
    y_axis: theme.PlotlySpec,
    samples: Mapping[str, Sequence[Sample]],
    width: int,
) -> go.Figure:
    widths = [one.width for one in next(iter(samples.values()))]
    axes = {"xaxis": doubling_axis("d<sub>k</sub>", widths), "yaxis": y_axis}
    return go.Figure(list(lines), headed(CURVES_HEIGHT, heading) | axes | {"shapes": [upright(width)]})


def _medians(of_name: Sequence[Sample], quartiles: Sequence[Quartiles], text: str) -> go.Scatter:
    half = _("middle half of the rows: %{customdata}")
    halves = [_("{low} to {high}", low=_short(one.low), high=_short(one.high)) for one in quartiles]
    return _line(of_name, [one.median for one in quartiles], f"{text}<br>{half}", customdata=halves)


def _line(of_name: Sequence[Sample], values: Sequence[float], text: str, **more: Any) -> go.Scatter:
    (name,) = {one.name for one in of_name}
    hover = f"{_(SCORES[name][0])}, d_k = %{{x}}<br>{text}"
    return line([one.width for one in of_name], list(values), SCORE_COLOURS[name], hover, **more)


def _short(value: float) -> str:
    """A number of two digits, as a power of ten where it is small."""
    return decimal(value) if value >= 0.01 else scientific(value)
