"""Scores, of the page on claims: why the dot product is divided by √d_k, and what was used before it."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pages.why_attention import tables
from viz.pages.why_attention.scores import costs, data, figures, heads
from viz.pages.why_attention.scores.data import NAMES, WIDTHS
from viz.text import html
from viz.text.messages import _, said
from viz.text.numbers import scientific
from viz.text.sites import file_name
from viz.ui import controls, frame, number_controls

if TYPE_CHECKING:
    from model import Trace

#: d_k of the paper's base model.
PAPER_WIDTH: Final = 64
#: A median gradient below this share of the scaled one counts as vanished.
VANISHED: Final = 0.1
CURVES: Final = {
    "variance": (figures.variance_curve, said("variance over d_k, a line for each score function")),
    "entropy": (figures.entropy_curve, said("entropy over d_k, a line for each score function")),
    "gradient": (figures.gradient_curve, said("gradient over d_k, a line for each score function")),
}


@frame.fragment
def show(trace: "Trace") -> None:
    """Random vectors by all functions, the heads of the model with and without scaling, and the cost of each."""
    width = _width()
    chosen = {name: data.sample(name, width) for name in NAMES}
    with st.grid(4, min_column_width=200, gap="small"):
        for name, sample in chosen.items():
            alt = _(
                "Softmax of a random query over 32 keys, {score}, d_k = {width}",
                score=figures.LABELS[name][0],
                width=width,
            )
            frame.chart(figures.example_row(sample), f"score-row-{name}", file_name("scores", name, f"dk{width}"), alt)
    st.caption(_how_to_read(chosen, width))
    st.html(html.swatches([(figures.COLOURS[name], figures.LABELS[name][0]) for name in NAMES]))
    with st.spinner(_("Drawing random vectors of every width …")):
        samples = {name: [data.sample(name, other) for other in WIDTHS] for name in NAMES}
    with st.grid(3, min_column_width=240, gap="small"):
        for what, (curve, alt) in CURVES.items():
            frame.chart(curve(samples, width), f"score-{what}", file_name("scores", what), alt)
    st.caption(_claim(samples))
    number_controls.table_button(_("All widths (CSV)"), partial(tables.scores, samples), file_name("scores", "widths"))
    heads.show(trace)
    costs.show(width)


def _width() -> int:
    with st.container(width=460):
        return controls.stepped(
            "score_width",
            _("d_k, components of a query and a key"),
            WIDTHS,
            help_text=_(
                "The paper's base model has d_k = {paper_width}. All components are drawn from N(0, 1).",
                paper_width=PAPER_WIDTH,
            ),
        )


def _how_to_read(chosen: dict[str, data.Sample], width: int) -> str:
    dot, scaled = chosen["dot"], chosen["scaled"]
    ratio = dot.spread.median / scaled.spread.median
    return _(
        "Each bar is the weight of one of 32 random keys, the largest first, for the query in the middle of 256. At "
        "d_k = {width:,} the plain dot product gives **{dot:.0%}** to one key, the scaled one {scaled:.0%}: its scores "
        "spread {ratio:.1f} × as far. In the corner are medians over all queries: the standard deviation of a query's "
        "scores, the entropy of its weights, and ‖∂ weights / ∂ scores‖, what is left of a gradient that comes back "
        "through the softmax. W and v are random as in a new layer.",
        width=width,
        dot=float(dot.example[0]),
        scaled=float(scaled.example[0]),
        ratio=ratio,
    )


def _claim(samples: dict[str, list[data.Sample]]) -> str:
    dots, scaled = samples["dot"], samples["scaled"]
    off = max(abs(sample.variance / sample.expected - 1) for sample in dots)
    flows = [dot.gradient.median / other.gradient.median for dot, other in zip(dots, scaled, strict=True)]
    gone = next(width for width, flow in zip(WIDTHS, flows, strict=True) if flow < VANISHED)
    paper = WIDTHS.index(PAPER_WIDTH)
    return _(
        "**The paper** (§3.2.1) suspects that for large d_k dot products “grow large in magnitude, pushing the "
        "softmax function into regions where it has extremely small gradients”; footnote 4 gives Var(q · k) = d_k. It "
        "measures neither, and cites that additive attention does better than an unscaled dot product for large d_k. "
        "**Here** the measured variance (line) is off the formula (dotted) by {off:.0%} at most. At the paper's d_k = "
        "{paper_width} the middle row still keeps {kept:.0%} of the scaled gradient, although its entropy is "
        "{entropy:.1f} of 5 bits: two keys share the weight. From d_k = {gone} on less than a tenth is left, at "
        "{widest:,} only {least}. The bilinear score grows as the dot product does; the additive one is bounded by its "
        "tanh. Point at a line for its quartiles.",
        off=off,
        paper_width=PAPER_WIDTH,
        kept=flows[paper],
        entropy=dots[paper].entropy.median,
        gone=gone,
        widest=WIDTHS[-1],
        least=scientific(dots[-1].gradient.median),
    )
