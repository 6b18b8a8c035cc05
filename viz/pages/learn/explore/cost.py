"""Cost: what a step of decoding computes and what it reuses, and what that saves (§3.1)."""

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from model.errors import TraceError
from viz.access import models, traces
from viz.pages.learn.explore import cost_figures as figures
from viz.pages.learn.explore.data import cost as data
from viz.selection import state
from viz.text import html
from viz.text.messages import _, in_a_row, plural, said
from viz.text.written import display_token, file_name
from viz.ui import controls, frame, sentence, terms
from viz.ui.controls import plain
from viz.ui.snippets import Snippet, line, of_written
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model import StepCost, Trace

#: The parts of a step's work, as people call them.
PARTS: Final = {
    "self_projections": said("Self-attention: W_Q, W_K, W_V, W_O"),
    "self_attention": said("Self-attention: QKᵀ and weights · V"),
    "cross_projections": said("Cross-attention: W_Q, W_O (and W_K, W_V)"),
    "cross_attention": said("Cross-attention: QKᵀ and weights · V"),
    "feed_forward": said("Feed-forward"),
    "output_projection": said("Output projection"),
}
#: What is multiplied → how often, as TeX.
FORMULAS: Final = (
    (said("self-attention projections"), r"N \cdot 4\,r\,d^2"),
    (said("self-attention"), r"N \cdot 2\,r\,n\,d"),
    (said("cross-attention projections"), r"N \cdot (2\,r\,d^2 + 2\,m\,d^2)"),
    (said("cross-attention"), r"N \cdot 2\,r\,S\,d"),
    (said("feed-forward"), r"N \cdot 2\,r\,d\,d_{ff}"),
    (said("output projection"), r"d \cdot |V|"),
)
_COLUMNS: Final = (
    html.Column(said("Multiply-adds")),
    html.Column(said("With the cache"), is_number=True),
    html.Column(said("Recomputed"), is_number=True),
    html.Column(said("Ratio"), is_number=True),
)


@frame.fragment
def show(trace: "Trace") -> None:
    """The step, the cache in it, its cost by part, and the cost of all steps."""
    model = state.current().model
    abilities = models.abilities(model)
    if frame.lacking(abilities, "decoding") or frame.lacking(abilities, "cost"):
        return
    trace = _written(trace)
    try:
        costs = data.step_costs(trace, models.writer(model))
    except TraceError as error:
        st.info(plain(error.message), icon=":material/info:")
        return
    # The last step reuses most; what a person chose in another text may not exist here.
    state.propose(step=len(costs) - 1)
    if state.current().common.step >= len(costs):
        state.correct(step=len(costs) - 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        labels = {at: str(at + 1) for at in range(len(costs))}
        step = controls.dropdown("step", _("Step"), labels, width=105)
        st.html(html.swatches(list(zip(reversed(figures.COLOURS), reversed(figures.STATES), strict=True))), width=440)
    name = file_name("cost", f"step{step + 1}", sentence=trace.text)
    _cache(trace, costs[step], step, name)
    _work(trace, costs, step, name)
    _formula(is_papers=data.is_papers(trace, models.writer(model)))
    controls.table_button(_("All steps (CSV)"), partial(costs_csv, costs), file_name("cost", sentence=trace.text))


def _written(trace: "Trace") -> "Trace":
    """What the model wrote: a trace of a text has that too, unless its model is a decoder, which only read it."""
    model, text = state.current().model, trace.text
    if models.abilities(model).kind != "decoder":
        return trace
    return sentence.computed(
        ("written", text, ()), lambda progress: traces.written(models.writer(model), text, progress), "explore-cost"
    )


def python(trace: "Trace") -> Snippet:
    """The multiply-adds of every step, with the cache and without."""
    abilities = models.abilities(state.current().model)
    if not (abilities.has("decoding") and abilities.has("cost")):
        return ""
    trace = _written(trace)
    numbers = len(trace.source_ids), len(trace.target_tokens) - len(trace.steps) + 1, len(trace.steps)
    costs = line("costs = [step_cost(sizes, {}, step, {}) for step in range({})]", *numbers)
    return of_written(trace, {"decoding.cost": "step_cost"}, "sizes = reader.decoder_sizes(trace)", costs)


def _cache(trace: "Trace", cost: "StepCost", step: int, name: str) -> None:
    target = figures.target_states(cost, len(trace.target_tokens))
    blocks = [
        (
            _("Self-attention: target positions") if trace.source_ids else _("All positions"),
            "self",
            target,
            trace.target_tokens,
        )
    ]
    if has_memory := bool(trace.source_ids):
        source = figures.source_states(step, len(trace.source_ids))
        blocks.append((_("Cross-attention: source positions"), "cross", source, trace.source_tokens))
    with st.grid(len(blocks), min_column_width=430, gap="medium"):
        for title, kind, states, tokens in blocks:
            with st.container():
                message = "{title}: which keys and values step {step} computes and which it reuses"
                frame.chart(
                    figures.cache_blocks(states, tokens, trace.layers_of(f"decoder.{kind}")),
                    f"cache-{kind}",
                    f"{name}-cache-{kind}",
                    _(message, title=title, step=step + 1),
                )
                terms.caption(title)
    last = len(trace.target_tokens) - len(trace.steps) + step
    read, written = (plain(display_token(token)) for token in (trace.target_tokens[last], trace.steps[step].token))
    terms.caption(
        _(
            "Step {step} reads **{read}** and writes **{written}**. {work} It reads {reused:,} numbers from the cache "
            "({megabytes:.2f} MB in float32). A block is the key and the value of one position, for all heads of a "
            "layer.",
            step=step + 1,
            read=_("up to {token}", token=read) if cost.new_target_rows > 1 else read,
            written=written,
            work=_work_in_words(cost, has_memory=has_memory),
            reused=cost.reused_numbers,
            megabytes=cost.reused_numbers * 4 / 1e6,
        ),
        help=_(
            "Once computed, the keys and values of a token do not change, because later tokens are masked. So a step "
            "computes only new rows and reads the rest from a cache."
        ),
    )


def _work_in_words(cost: "StepCost", *, has_memory: bool) -> str:
    """What a step computes and reuses in each layer."""
    own = plural(
        "In each layer it computes {count:,} row of keys and values and reuses {reused:,}.",
        "In each layer it computes {count:,} rows of keys and values and reuses {reused:,}.",
        cost.new_target_rows,
        reused=cost.reused_target_rows,
    )
    if not has_memory:
        return own
    message = "It also reuses the keys and values of all {count} source tokens."
    if cost.new_source_rows:
        message = "It also computes the keys and values of all {count} source tokens, once for all steps."
    return in_a_row((own, _(message, count=cost.new_source_rows or cost.reused_source_rows)))


def _work(trace: "Trace", costs: "Sequence[StepCost]", step: int, name: str) -> None:
    st.subheader(_("What the cache saves"), anchor=False)
    cached = np.array([cost.cached.total for cost in costs])
    recomputed = np.array([cost.recomputed.total for cost in costs])
    lines = [
        _line(_("Step {step}", step=step + 1), int(cached[step]), int(recomputed[step])),
        _line(_("All {count} steps", count=len(costs)), int(cached.sum()), int(recomputed.sum())),
    ]
    st.html(html.table(_COLUMNS, lines, label=_("Multiply-adds with the cache and recomputed")))
    terms.caption(
        _(
            "A multiply-add is one product added to a sum. The bars show the parts of this step, the curves the "
            "total of every step. The encoder runs once either way and is not counted."
        )
        if trace.source_ids
        else _(
            "A multiply-add is one product added to a sum. The bars show the parts of this step, the curves the "
            "total of every step."
        )
    )
    st.html(html.swatches([(colour, way) for way, colour in figures.WAY_COLOURS.items()]))
    parts = {
        _(label): (getattr(costs[step].cached, part), getattr(costs[step].recomputed, part))
        for part, label in PARTS.items()
        if trace.source_ids or not part.startswith("cross")
    }
    tokens = [done.token for done in trace.steps]
    by_part = _("Multiply-adds of step {step} by part, with the cache and recomputed", step=step + 1)
    charts = (
        (figures.part_bars(parts), "parts", by_part),
        (figures.cost_curve(cached, recomputed, step, tokens), "steps", _("Multiply-adds of each step, two curves")),
    )
    with st.grid(2, min_column_width=330, gap="medium"):
        for figure, kind, alt in charts:
            frame.chart(figure, f"cost-{kind}", f"{name}-{kind}", alt)


def _line(name: str, cached: int, recomputed: int) -> tuple[str, ...]:
    return name, f"{cached:,}", f"{recomputed:,}", f"{recomputed / cached:.1f} ×"


def _formula(*, is_papers: bool) -> None:
    """Explain how the parts are counted: with the paper's sizes, or with those of a library model."""
    if not is_papers:
        frame.caption(
            "Each matrix of the decoder costs its entries × the rows that it multiplies. Each row costs the "
            "width of a head for each key it attends to, once for QKᵀ and once for weights · V. Headlight's "
            "tests count both ways for such models, and the counts equal those of torch's FlopCounterMode."
        )
        return
    lines = (rf"\text{{{_(name)}}} & {formula}" for name, formula in FORMULAS)
    st.latex("\\begin{array}{ll}\n" + " \\\\\n".join(lines) + "\n\\end{array}")
    frame.caption(
        "N layers, $d$ = d_model, $S$ source tokens, $n$ target tokens read so far, $|V|$ tokens in the vocabulary. "
        "With the cache, $r$ = 1 new row, and $m$ = $S$ in the first step and 0 afterwards; without it, $r$ = $n$ and "
        "$m$ = $S$ in every step. The number of heads does not appear: they share $d$ among themselves. Headlight's "
        "tests count both ways, and the counts equal those of torch's FlopCounterMode exactly."
    )


def costs_csv(steps: "Sequence[StepCost]") -> bytes:
    """A row for each step: rows computed and reused, and the multiply-adds of each part with the cache and without."""
    if not steps:
        return table(("step",), ())
    parts = [field.name for field in fields(steps[0].cached)]
    ways = ("cached", "recomputed")
    counted = ("new_target_rows", "reused_target_rows", "new_source_rows", "reused_source_rows", "reused_numbers")
    titles = ("step", *counted, *(f"{way}_{part}" for way in ways for part in (*parts, "total")))
    rows = (
        (
            number,
            *(getattr(step, name) for name in counted),
            *(getattr(getattr(step, way), part) for way in ways for part in (*parts, "total")),
        )
        for number, step in enumerate(steps)
    )
    return table(titles, rows)
