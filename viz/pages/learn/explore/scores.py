"""Scores, of the page on claims: why the dot product is divided by √d_k, and what was used before it."""

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.pages.learn.explore import figures
from viz.pages.learn.explore.data import scores as data
from viz.pages.learn.explore.data.scores import NAMES, WIDTHS
from viz.selection import state
from viz.text import html, messages
from viz.text.messages import _, said
from viz.text.written import display_token, file_name, head_label, head_name, row_parts, scientific
from viz.ui import controls, frame, terms, token_labels
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, alone, line, of_text, open_head
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model import Trace

#: d_k of the paper's base model.
PAPER_WIDTH: Final = 64
#: A median gradient below this share of the scaled one counts as vanished.
VANISHED: Final = 0.1
CURVES: Final = {
    "variance": (figures.variance_curve, said("variance by d_k, one line per score function")),
    "entropy": (figures.entropy_curve, said("entropy by d_k, one line per score function")),
    "gradient": (figures.gradient_curve, said("gradient by d_k, one line per score function")),
}
_OF_DIVIDING: Final = said(
    "On the left, each point is a head of this sentence, by the medians of its rows. This model divides by √d_k. With "
    "the queries and keys as they are, the median head keeps {scaled:.0%} of the largest possible entropy with the "
    "division and {dot:.0%} without it; the gradient is {scaled_gradient:.3f} and {dot_gradient:.3f}. The queries and "
    "keys were trained with the division: a model trained without it could have made them smaller."
)
_OF_UNDIVIDED: Final = said(
    "On the left, each point is a head of this sentence, by the medians of its rows. This model does not divide by "
    "√d_k. With the queries and keys as they are, the median head keeps {scaled:.0%} of the largest possible entropy "
    "with the division and {dot:.0%} without it; the gradient is {scaled_gradient:.3f} and {dot_gradient:.3f}. The "
    "queries and keys were trained without the division: a model trained with it could have made them larger."
)


@frame.fragment
def show(trace: "Trace") -> None:
    """Random vectors by all functions, the heads of the model with and without scaling."""
    width = _width()
    chosen = {name: data.sample(name, width) for name in NAMES}
    with st.grid(4, min_column_width=200, gap="small"):
        for name, sample in chosen.items():
            message = "Softmax of a random query over 32 keys, {score}, d_k = {width}"
            alt = _(message, score=figures.SCORES[name][0], width=width)
            frame.chart(figures.example_row(sample), f"score-row-{name}", file_name("scores", name, f"dk{width}"), alt)
    terms.caption(_how_to_read(chosen, width))
    st.html(html.swatches([(figures.SCORE_COLOURS[name], figures.SCORES[name][0]) for name in NAMES]))
    with st.spinner(_("Sampling random vectors of every width …")):
        samples = {name: [data.sample(name, other) for other in WIDTHS] for name in NAMES}
    with st.grid(3, min_column_width=240, gap="small"):
        for what, (curve, alt) in CURVES.items():
            frame.chart(curve(samples, width), f"score-{what}", file_name("scores", what), alt)
    flows = _flows(samples)
    terms.markdown(_conclusion(flows))
    terms.caption(_claim(samples, flows))
    controls.table_button(_("All widths (CSV)"), partial(_widths_csv, samples), file_name("scores", "widths"))
    frame.caption("Time and RAM of each function on your machine: `python -m model claims`.")
    _show_heads(trace)


def python(trace: "Trace") -> Snippet:
    """Random vectors by each score function, and a row of a head with and without the division."""
    width = state.current().learn.score_width
    samples = line("samples = {{name: random_saturation(name, {}) for name in {}}}", width, data.NAMES)
    imports = {"analysis.scoring": "random_saturation, with_scale"}
    if not trace.knows_inputs or not data.heads(trace):
        return alone({"analysis.scoring": "random_saturation"}, samples)
    site, layer, head = open_head(trace)
    default = data.most_changed_row(trace, site, layer, head)
    row = state.position("token", len(trace.row_names(site)), default)
    inputs = line("inputs = trace.attention({}, {})", site, layer)
    template = "weights = {{name: with_scale(inputs, name).weights([{}], [{}])[0, 0] for name in ('dot', 'scaled')}}"
    return of_text(trace, imports, samples, inputs, line(template, head, row))


def _width() -> int:
    with st.container(width=460):
        message = "The paper's base model has d_k = {paper_width}. All components are sampled from N(0, 1)."
        return controls.stepped(
            "score_width",
            _("d_k, number of components of each query and key"),
            WIDTHS,
            help_text=_(message, paper_width=PAPER_WIDTH),
        )


def _how_to_read(chosen: dict[str, data.Sample], width: int) -> str:
    dot, scaled = chosen["dot"], chosen["scaled"]
    ratio = dot.spread.median / scaled.spread.median
    message = (
        "Each bar is the weight of one of 32 random keys, the largest first, for the median query of 256. At d_k = "
        "{width:,} the plain dot product gives **{dot:.0%}** to one key, the scaled one {scaled:.0%}: the standard "
        "deviation of the plain scores is {ratio:.1f} times as large. In the corner are medians over all queries: the "
        "standard deviation of a query's scores, the entropy of its weights, and ‖∂ weights / ∂ scores‖, the gradient "
        "that passes through the softmax. W and v are random as in a new layer."
    )
    return _(message, width=width, dot=float(dot.example[0]), scaled=float(scaled.example[0]), ratio=ratio)


def _flows(samples: dict[str, list[data.Sample]]) -> list[float]:
    """For each width, which share of the scaled gradient is left without the division."""
    both = zip(samples["dot"], samples["scaled"], strict=True)
    return [dot.gradient.median / scaled.gradient.median for dot, scaled in both]


def _conclusion(flows: list[float]) -> str:
    """What may be concluded from random vectors."""
    return _(
        "**Without the division, rows of random vectors saturate: from d_k = {gone} on less than a tenth of the "
        "gradient is left. The effect on training can only be measured by training: see “unscaled” on the "
        "Experiments page.**",
        gone=next(width for width, flow in zip(WIDTHS, flows, strict=True) if flow < VANISHED),
    )


def _claim(samples: dict[str, list[data.Sample]], flows: list[float]) -> str:
    dots = samples["dot"]
    off = max(abs(sample.variance / sample.expected - 1) for sample in dots)
    paper = WIDTHS.index(PAPER_WIDTH)
    return _(
        "**The paper** (§3.2.1) suspects that for large d_k dot products “grow large in magnitude, pushing the "
        "softmax function into regions where it has extremely small gradients”; footnote 4 gives Var(q · k) = d_k. "
        "It measures neither, and refers to a finding that additive attention outperforms an unscaled dot "
        "product for large d_k. **Here** the measured variance (solid line) differs from the formula (dotted line) by "
        "at most {off:.0%}. At the paper's d_k = {paper_width} the median row still keeps {kept:.0%} of the scaled "
        "gradient, although its entropy is {entropy:.1f} of 5 bits: two keys share the weight. At {widest:,} the "
        "gradient is only {least}. The bilinear score grows as the dot product does; the additive one is bounded by "
        "its tanh. Point at a line to see its quartiles.",
        off=off,
        paper_width=PAPER_WIDTH,
        kept=flows[paper],
        entropy=dots[paper].entropy.median,
        widest=WIDTHS[-1],
        least=scientific(dots[-1].gradient.median),
    )


def _show_heads(trace: "Trace") -> None:
    """All heads as points, scaled and not, and a row of one head both ways."""
    st.subheader(_("In the trained heads of this model"), anchor=False)
    if not trace.knows_inputs:
        frame.note(
            "Only the attention weights of this model are available, not its queries and keys, so its scores cannot "
            "be scaled differently."
        )
        return
    heads = data.heads(trace)
    if not heads:
        frame.note("Every row of this text has only one key: its weight is 1, with or without the division by √d_k.")
        return
    swatches = html.swatches([(figures.SCORE_COLOURS[name], _named(name, heads)) for name in ("scaled", "dot")])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site, layer, head, row = _chosen_row(trace)
    st.html(swatches)
    name = file_name("scores", "heads", sentence=trace.text)
    shown_head, row_name = head_label(layer, head, site), trace.row_names(site)[row]
    which = _("row “{row}” of {head}", row=display_token(row_name), head=shown_head)
    with st.grid(2, min_column_width=330, gap="medium"):
        frame.chart(
            figures.head_cloud({name: heads[name] for name in ("dot", "scaled")}),
            "score-heads",
            name,
            _(
                "Every head of the model as two points, scaled and unscaled: standard deviation of its scores and "
                "gradient"
            ),
        )
        frame.chart(
            figures.head_row(data.row_weights(trace, site, layer, head, row), trace.axis_names(site)[1]),
            "score-head-row",
            file_name("scores", head_name(site, layer, head), f"row{row + 1}", sentence=trace.text),
            _("The weights of {which}, scaled and unscaled", which=which),
        )
    before, stands_for, after = (plain(part) for part in row_parts(row_name, writes=trace.rows_write(site)))
    bold = f"{before}**{stands_for}**{after}"
    message = "On the right is {which}, by default the one that changes most."
    in_bold = _(message, which=_("row “{row}” of {head}", row=bold, head=shown_head))
    terms.caption(messages.in_a_row((_cloud_caption(trace, heads), in_bold, token_labels.rows_said(trace, site))))


def _named(name: str, heads: "Mapping[str, data.Heads]") -> str:
    widths = sorted(set(heads[name].widths))
    root = messages.with_or(f"√{width}" for width in widths)
    return _("scores divided by {root}", root=root) if name == "scaled" else _("the same, not divided")


def _cloud_caption(trace: "Trace", heads: "Mapping[str, data.Heads]") -> str:
    scaled, dot = heads["scaled"], heads["dot"]
    return _(
        _OF_DIVIDING if data.own_scale(trace) != 1.0 else _OF_UNDIVIDED,
        scaled=np.median(scaled.evenness),
        dot=np.median(dot.evenness),
        scaled_gradient=np.median(scaled.gradient),
        dot_gradient=np.median(dot.gradient),
    )


def _chosen_row(trace: "Trace") -> tuple[str, int, int, int]:
    """Widgets for a site, layer, head and row; what they say."""
    site = controls.site(trace.sites)
    layers, heads = trace.shapes[site]
    state.fit(trace.shapes)
    layer, head = controls.layer(layers), controls.head(heads)
    default = data.most_changed_row(trace, site, layer, head)
    row = controls.position("token", _("Row"), token_labels.row_labels(trace, site), default=default)
    return site, layer, head, row


def _widths_csv(samples: "Mapping[str, Sequence[data.Sample]]") -> bytes:
    """A row for each score function and width; entropies in bits."""
    parts = ("spread", "entropy", "gradient")
    titles = [f"{part}_{quartile}" for part in parts for quartile in ("q25", "median", "q75")]
    rows = (
        (sample.name, sample.width, sample.variance, sample.expected, *map(float, chain(*_quartiles(sample))))
        for of_name in samples.values()
        for sample in of_name
    )
    return table(["score", "d_k", "variance", "expected_variance", *titles], rows)


def _quartiles(sample: data.Sample) -> list[tuple[float, float, float]]:
    return [(part.low, part.median, part.high) for part in (sample.spread, sample.entropy, sample.gradient)]
