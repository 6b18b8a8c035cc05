"""Pooling, of the page on claims: attention as a weighted mean of values, from a hard lookup to a plain mean."""

from functools import partial
from typing import Final

import streamlit as st

from viz.pages.learn.explore import figures
from viz.pages.learn.explore.data import pooling as data
from viz.selection import state
from viz.text import html
from viz.text.messages import _, said
from viz.text.written import file_name
from viz.ui import controls, formulas, frame, terms
from viz.ui.snippets import Snippet, alone, line
from viz.ui.trace_tables import digits, table

#: Keys averaged over, below which a lookup is called hard, and above which it is nearly a mean of all 40.
HARD, EVEN = 1.5, 25.0
FORMULAS: Final = (
    r"f(q) = \sum_j w_j\, v_j",
    r"w = \operatorname{softmax}_j\Big({-\frac{(q - k_j)^2}{2\sigma^2}}\Big)",
    r"= \operatorname{softmax}_j\Big(\frac{q\,k_j}{\sigma^2} - \frac{k_j^2}{2\sigma^2}\Big)",
)
_LEGEND: Final = (
    (figures.CURVE, said("pooled value")),
    (figures.POINT, said("given points")),
    (figures.TRUE, said("underlying curve")),
)


@frame.fragment
def show() -> None:
    """The width and the query, the curve beside the weights, and the error by width."""
    width, query = _widgets()
    found = data.regression(width, query)
    name = file_name("pooling", f"sigma{width}")
    with st.grid(2, min_column_width=330, gap="medium"):
        alt = _("Forty points, the curve that pooling predicts from them, and the weight of each point for one query")
        frame.chart(figures.pooled_curve(found, query / 100), "pooling-curve", f"{name}-curve", alt)
        alt = _("The weights of fifty-one queries over forty keys")
        frame.chart(figures.weight_rows(found, query / 100), "pooling-weights", f"{name}-weights", alt)
    st.html(html.swatches(_LEGEND))
    terms.caption(_how_to_read(found, width, query))
    formulas.in_a_row(*FORMULAS)
    widths, errors = [one / 100 for one in data.TRIED], data.errors()
    frame.chart(
        figures.error_curve(widths, errors, width / 100),
        "pooling-errors",
        file_name("pooling", "errors"),
        _("The error at held-out points, by the width of the kernel"),
    )
    st.markdown(
        _(
            "**A soft look-up predicts best: with σ = {best_width:.2f} the error is {least_errors:.2f}; the hard "
            "look-up (σ = {narrowest}) has {hard_error:.2f}, the near-mean (σ = {widest:.0f}) {even_error:.2f}.**",
            best_width=data.best_width() / 100,
            least_errors=min(errors),
            narrowest=widths[0],
            hard_error=errors[0],
            widest=widths[-1],
            even_error=errors[-1],
        )
    )
    frame.caption(
        "**The paper** (§3.2) describes attention in the same way: a query and key–value pairs are mapped to “a "
        "weighted sum of the values”; it does not measure this. Nadaraya and Watson pooled in this way in 1964, "
        "with a fixed kernel. **Here** the equation of the model computes the picture: the kernel is a dot "
        "product scaled by 1/σ² plus a bias for each key, so σ² corresponds to √d_k. Each point is predicted "
        "from all others. A Transformer learns queries and keys, and thereby how sharp each head is."
    )
    controls.table_button(_("These weights (CSV)"), partial(_csv, found), f"{name}-weights")


def python() -> Snippet:
    """Pooling with the chosen kernel."""
    choices = state.current().learn
    at = choices.pooling_width / 100, choices.pooling_query / 100
    found = line("found = regression(width={}, query={})", *at)
    return alone({"analysis.pooling": "regression"}, found, "found.predicted, found.row  # [query], [key]")


def _widgets() -> tuple[int, int]:
    state.propose(pooling_width=data.best_width())
    controls.settle("pooling_width", data.NARROWEST, data.WIDEST, said("Width"), controls.hundredths)
    controls.settle("pooling_query", 0, data.LAST_QUERY, said("Query"), controls.hundredths)
    with st.container(horizontal=True, gap="medium"):
        controls.hundredths_slider(
            "pooling_width",
            _("σ, width of the kernel"),
            data.NARROWEST,
            data.WIDEST,
            help_text=_("Narrow: a query takes the value of its nearest key. Wide: it takes the mean of all values."),
        )
        controls.hundredths_slider(
            "pooling_query",
            _("Query"),
            0,
            data.LAST_QUERY,
            help_text=_("The position of the query whose weights are shown."),
        )
    choices = state.current().learn
    return choices.pooling_width, choices.pooling_query


def _how_to_read(found: data.Regression, width: int, query: int) -> str:
    largest = float(found.row.max())
    kind = _("a soft look-up")
    if found.keys_used < HARD:
        kind = _("a hard look-up")
    elif found.keys_used > EVEN:
        kind = _("nearly a plain mean")
    message = (
        "On the left, the size of a point is the weight that the query at {query:.2f} gives it; the largest is "
        "{largest:.0%}. On the right, each row is a query and each column a key, dark for no weight; the framed row is "
        "this query. With σ = {width:.2f} a query averages over **{keys_used:.1f}** of 40 keys (2 to the power "
        "of its entropy): {kind}."
    )
    return _(message, query=query / 100, largest=largest, width=width / 100, keys_used=found.keys_used, kind=kind)


def _csv(found: data.Regression) -> bytes:
    """A row per query of the curve: its position, its prediction, and its weight on each key."""
    titles = ["query", "pooled_value", *(f"key_{key:.4f}" for key in found.keys)]
    columns = (found.queries, found.predicted, digits(found.weights))
    return table(titles, ([query, predicted, *row] for query, predicted, row in zip(*columns, strict=True)))
