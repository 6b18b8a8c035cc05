"""The saturation of a softmax as pictures: one row of weights, curves over d_k, all heads, one row of a head."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz import theme
from viz.pages.paper.data.claims import Heads, Quartiles, Sample
from viz.pictures.figures import charts
from viz.pictures.figures.charts import axis, doubling_axis, headed, note, powers_axis, token_labels, upright
from viz.text.messages import Message, _, said
from viz.text.numbers import decimal, scientific
from viz.text.sites import head_label

#: Function → its name, its formula and its colour.
LABELS: Final[Mapping[str, tuple[Message, str]]] = {
    "dot": (said("Dot product"), "q · k"),
    "scaled": (said("Scaled"), "q · k / √d<sub>k</sub>"),
    "additive": (said("Additive"), "v · tanh(q + k)"),
    "general": (said("Bilinear"), "q · W k"),
}
COLOURS: Final = {
    "dot": theme.HEAD_COLOURS[3],
    "scaled": theme.HEAD_COLOURS[0],
    "additive": theme.HEAD_COLOURS[2],
    "general": theme.HEAD_COLOURS[5],
}
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
        marker={"color": COLOURS[sample.name], "line": {"width": 0}},
        hovertemplate=_("key %{x} by weight<br>weight %{y:.4f}") + "<extra></extra>",
    )
    name, formula = LABELS[sample.name]
    measured = _(
        "standard deviation of scores  <b>{spread:.2f}</b><br>entropy  <b>{entropy:.2f}</b> of {most:.0f} "
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
        lines.append(_line(of_name, expected, _("formula %{y:,.3g}"), {"dash": "dot", "width": 1.5}))
        lines.append(_line(of_name, measured, _("variance %{y:,.3g}"), {"width": 2.5}))
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
        about = np.stack((labels, [f"{value:.0%}" for value in of_name.evenness]), axis=-1)
        traces.append(
            go.Scatter(
                x=of_name.spread,
                y=np.maximum(of_name.gradient, LEAST_GRADIENT),
                customdata=about,
                mode="markers",
                marker={"color": COLOURS[name], "size": 8, "opacity": 0.8},
                hovertemplate=(
                    f"<b>%{{customdata[0]}}</b>, {_(LABELS[name][0]).lower()}<br>"
                    + _(
                        "standard deviation of scores %{x:.2f}<br>gradient %{y:.2g}<br>entropy %{customdata[1]} of "
                        "the maximum"
                    )
                    + "<extra></extra>"
                ),
            )
        )
    figure = go.Figure(
        traces,
        headed(HEADS_HEIGHT, _("<b>Gradient</b> of every head by the standard deviation of its scores"))
        | {
            "xaxis": axis(_("standard deviation of a row's scores, nats"))
            | {"type": "log", "tickvals": SPREADS, "showgrid": False},
            "yaxis": powers_axis(),
        },
    )
    charts.spots(figure, heads=chain(*map(_points, heads.values())))
    return figure


def _points(of_name: Heads) -> Iterator[tuple[charts.Head, charts.Box]]:
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
            marker={"color": COLOURS[name], "line": {"width": 0}},
            hovertemplate=f"<b>%{{customdata}}</b>, {_(LABELS[name][0]).lower()}<br>{weight}<extra></extra>",
        )
        for name, values in weights.items()
    ]
    stride = max(1, -(-len(labels) // 40))
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
    line = _line(of_name, [one.median for one in quartiles], f"{text}<br>{half}", {"width": 2.5})
    line.customdata = [_("{low} to {high}", low=_short(one.low), high=_short(one.high)) for one in quartiles]
    return line


def _line(of_name: Sequence[Sample], values: Sequence[float], text: str, line: theme.PlotlySpec) -> go.Scatter:
    name = of_name[0].name
    return go.Scatter(
        x=[one.width for one in of_name],
        y=list(values),
        mode="lines",
        line={"color": COLOURS[name]} | line,
        hovertemplate=f"{_(LABELS[name][0])}, d_k = %{{x}}<br>{text}<extra></extra>",
    )


def _short(value: float) -> str:
    """A number of two digits, as a power of ten where it is small."""
    return decimal(value) if value >= 0.01 else scientific(value)
