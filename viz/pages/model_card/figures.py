"""Where a model's parameters lie: one bar a model, one colour a part."""

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz import theme
from viz.text import sites
from viz.text.html import visible
from viz.text.messages import _, said, shown

if TYPE_CHECKING:
    from model.nn.parameter_counts import ParameterCounts

#: In the order in which they are stacked: as data pass through them.
PART_LABELS: Final = {
    "embedding": said("Embedding"),
    "encoder_self_attention": sites.NAMES[sites.ENCODER].label,
    "encoder_feed_forward": said("Encoder feed-forward"),
    "decoder_self_attention": sites.NAMES[sites.DECODER].label,
    "cross_attention": said("Cross-attention"),
    "decoder_feed_forward": said("Decoder feed-forward"),
    "norms": said("Norm layers"),
}
#: Grey for what turns pieces into vectors and back, blue for the encoder, green for the bridge, warm for the decoder.
PART_COLOURS: Final = {
    "embedding": theme.HEAD_COLOURS[7],
    "encoder_self_attention": theme.HEAD_COLOURS[0],
    "encoder_feed_forward": theme.HEAD_COLOURS[4],
    "decoder_self_attention": theme.HEAD_COLOURS[3],
    "cross_attention": theme.HEAD_COLOURS[2],
    "decoder_feed_forward": theme.HEAD_COLOURS[1],
    "norms": theme.HEAD_COLOURS[5],
}
#: A share is written into its segment if it is at least this large.
SMALLEST_LABEL: Final = 0.07
HEIGHT: Final = 440
#: Room for the four lines that it has where a page is narrow.
LEGEND_HEIGHT: Final = 96


def parameter_bars(names: Sequence[str], counts: Sequence["ParameterCounts"]) -> go.Figure:
    """Stacked bars, first model on top: in millions above, as shares of each model's own total below."""
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.24)
    figure.update_layout(theme.figure_layout(HEIGHT))
    positions = list(range(len(names)))
    for part, label in PART_LABELS.items():
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
                    marker={"color": PART_COLOURS[part], "line": {"width": 0}},
                    customdata=list(zip(numbers, shares, strict=True)),
                    hovertemplate=hover,
                    text=[f"{share:.0%}" if row == 2 and share >= SMALLEST_LABEL else "" for share in shares],
                    textposition="inside",
                    insidetextanchor="middle",
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
    figure.update_xaxes(theme.AXIS_TEXT)
    figure.update_yaxes(theme.AXIS_TEXT)
    return figure
