"""Parameters by part, one bar per model; and the curves of a training run over its steps."""

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Final, NamedTuple

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz import theme
from viz.pictures.figures.charts import whole_numbers
from viz.text import written
from viz.text.html import visible
from viz.text.messages import _, said, shown

if TYPE_CHECKING:
    from model.decoding.cost import ParameterCounts
    from model.training_record import Curve, TrainingLog

#: Part → its label and colour, in the order in which they are stacked: as data pass through them. Grey for what turns
#: pieces into vectors and back, blue for the encoder, green for the bridge, warm for the decoder.
PARTS: Final = {
    "embedding": (said("Embedding"), theme.GREY),
    "encoder_self_attention": (written.NAMES[written.ENCODER].label, theme.BLUE),
    "encoder_feed_forward": (said("Encoder feed-forward"), theme.SKY),
    "decoder_self_attention": (written.NAMES[written.DECODER].label, theme.VERMILLION),
    "cross_attention": (said("Cross-attention"), theme.GREEN),
    "decoder_feed_forward": (said("Decoder feed-forward"), theme.ORANGE),
    "norms": (said("Norm layers"), theme.PURPLE),
}
#: A share is written into its segment if it is at least this large.
SMALLEST_LABEL: Final = 0.07
HEIGHT: Final = 440
#: Room for the four lines that it has where a page is narrow.
LEGEND_HEIGHT: Final = 96
PANEL_HEIGHT: Final = 213
#: Few points are marked, many would run into one another.
MAX_MARKED: Final = 60


class _Panel(NamedTuple):
    """Curves over the same steps; with `has_names`, the legend names each."""

    title: str
    curves: list["Curve"]
    hover: str
    axis: theme.PlotlySpec
    has_names: bool = False


def parameter_bars(names: Sequence[str], counts: Sequence["ParameterCounts"]) -> go.Figure:
    """Stacked bars, first model on top: in millions above, as shares of each model's own total below."""
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.24)
    figure.update_layout(theme.figure_layout(HEIGHT))
    positions = list(range(len(names)))
    for part, (label, colour) in PARTS.items():
        numbers = [asdict(count)[part] for count in counts]
        shares = [number / count.total for number, count in zip(numbers, counts, strict=True)]
        numbers_shown = _("{count} parameters, {share}", count="%{customdata[0]:,}", share="%{customdata[1]:.1%}")
        hover = f"<b>%{{y}}</b><br>{shown(label)}<br>{numbers_shown}<extra></extra>"
        for row, lengths in ((1, [number / 1e6 for number in numbers]), (2, shares)):
            figure.add_trace(
                go.Bar(
                    x=lengths,
                    y=positions,
                    orientation="h",
                    name=shown(label),
                    legendgroup=part,
                    showlegend=row == 1,
                    marker={"color": colour, "line": {"width": 0}},
                    customdata=list(zip(numbers, shares, strict=True)),
                    hovertemplate=hover,
                    text=[f"{share:.0%}" if row == 2 and share >= SMALLEST_LABEL else "" for share in shares],
                    textposition="inside",
                    insidetextanchor="middle",
                    insidetextfont={"color": theme.ink_on(colour)},
                    textangle=0,
                ),
                row=row,
                col=1,
            )
    # A space that does not break keeps the labels off the bars.
    labels = [f"{escape(visible(name), quote=False)}\u00a0" for name in names]
    figure.update_yaxes(tickmode="array", tickvals=positions, ticktext=labels, automargin=True, showgrid=False)
    figure.update_yaxes(range=[len(names) - 0.5, -0.5])
    figure.update_xaxes(title_text=_("million parameters"), zeroline=False, row=1, col=1)
    figure.update_xaxes(
        title_text=_("share of the model"), zeroline=False, range=[0, 1], tickformat=".0%", dtick=0.25, row=2, col=1
    )
    figure.update_layout(
        barmode="stack",
        margin={"r": 24, "t": LEGEND_HEIGHT},
        bargap=0.3,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "traceorder": "normal"},
    )
    figure.update_xaxes(title_standoff=4)
    return figure


def training_curves(log: "TrainingLog") -> go.Figure | None:
    """Those of loss, learning rate and BLEU of each dev set that were logged, below one another, over the same steps;
    None if nothing was.
    """
    # "200μ" is how plotly would write a learning rate.
    powers = {"rangemode": "tozero", "exponentformat": "power"}
    every = (
        _Panel(_("loss"), [log.loss], "%{y:.3f}", {"rangemode": "normal"}),
        _Panel(_("learning rate"), [log.learning_rate], "%{y:.3e}", powers),
        _Panel(_("BLEU"), list(log.bleu), "%{y:.2f}", {"rangemode": "tozero"}, has_names=True),
    )
    panels = [
        panel._replace(curves=known) for panel in every if (known := [curve for curve in panel.curves if curve.steps])
    ]
    if not panels:
        return None
    figure = make_subplots(rows=len(panels), cols=1, shared_xaxes=True, vertical_spacing=0.09)
    figure.update_layout(theme.figure_layout(PANEL_HEIGHT * len(panels)))
    colours = cycle(theme.HEAD_COLOURS)
    for row, panel in enumerate(panels, start=1):
        for curve in panel.curves:
            figure.add_trace(_line(curve, panel, next(colours)), row=row, col=1)
        figure.update_yaxes(title_text=panel.title, zeroline=False, row=row, col=1, **panel.axis)
    last = max(step for panel in panels for curve in panel.curves for step in curve.steps)
    figure.update_xaxes(whole_numbers(last) | {"zeroline": False})
    figure.update_xaxes(title_text=_("step"), row=len(panels), col=1)
    # Below all, where as many lines as a narrow page needs lie over no panel.
    legend = {"orientation": "h", "x": 0, "y": -0.14, "yanchor": "top"}
    figure.update_layout(showlegend=any(panel.has_names for panel in panels), legend=legend)
    return figure


def _line(curve: "Curve", panel: _Panel, colour: str) -> go.Scatter:
    return go.Scatter(
        x=list(curve.steps),
        y=list(curve.values),
        name=escape(visible(curve.name), quote=False) if panel.has_names else panel.title,
        mode="lines+markers" if len(curve.steps) <= MAX_MARKED else "lines",
        line={"color": colour, "width": 2},
        marker={"size": 5},
        showlegend=panel.has_names,
        hovertemplate=f"{_('step {number}', number='%{x:,}')}<br>%{{fullData.name}} {panel.hover}<extra></extra>",
    )
