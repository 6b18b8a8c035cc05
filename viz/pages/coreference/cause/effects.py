"""Rank the heads by what switching each off does, beside two other rankings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pages.coreference.cause import site_maps, switched_heads, tables, verdicts
from viz.pages.coreference.cause.data.asked import Asked, rank_correlation
from viz.pages.coreference.cause.figures import SITE_COLOURS, two_metrics
from viz.selection import state
from viz.text import html, sites
from viz.text.messages import _, in_a_row
from viz.text.numbers import signed
from viz.text.sites import file_name
from viz.ui import frame, head_verdict, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.metrics.head_names import HeadName


@frame.fragment
def show(asked: Asked, show_pair: Callable[[], None]) -> None:
    """Maps of what each head does, which one flips the choice, a table, and how the rankings agree.

    Args:
        asked: of the model.
        show_pair: draws the sentences of the one pair, if it is one.
    """
    heads = asked.heads
    effects = long_work.outcome(
        asked.effects, _("Switch off each head in turn"), key="cause-effects", start=asked.is_one
    )
    if effects is None:
        show_pair()
        return
    measured, estimated = effects
    name = file_name("effects", state.current().coreference.replacement, asked.name)
    site_maps.show(
        -measured.mean_changes.double().numpy(),
        heads,
        title=_("log-odds lost"),
        bound=float(measured.intact.abs().mean()),
        key="cause-effects",
        name=name,
        alt=lambda site: _("How much the log-odds fall when each head of {site} is switched off", site=site),
    )
    st.markdown(verdicts.sweep_sentence(measured, heads, asked.words))
    if asked.is_one:
        head_verdict.show(asked.tested(heads[verdicts.strongest(measured)]), key="cause-verdict")
    show_pair()
    st.caption(
        _(
            "Each of the {num_heads} heads is switched off alone. Rows are layers, columns heads. Warm: the head "
            "works for {helps}, whose log-odds (log p of it − log p of the other, in nats, {given}) fall without it. "
            "Cold: it works against it. The scale is at least as wide as the log-odds of the whole model.",
            num_heads=len(heads),
            helps=asked.helps,
            given=asked.given,
        )
    )
    attention = asked.accuracy
    order = np.argsort(-measured.importance.numpy(), kind="stable")
    with st.expander(_("All heads as a table, and other rankings"), on_change="rerun", key="cause-table") as opened:
        if opened.open:
            _table(measured, estimated, attention, [heads[i] for i in order], order)
            _rankings(measured, estimated, attention, heads, name)
    number_controls.table_button(_("Effects (CSV)"), partial(tables.effects, measured, estimated, heads), name)


def _rankings(
    measured: "HeadEffects",
    estimated: "HeadEffects",
    attention: Float[np.ndarray, "head"] | None,
    heads: Sequence["HeadName"],
    name: str,
) -> None:
    both = [effects.importance.double().numpy() for effects in (measured, estimated)]
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            frame.chart(
                two_metrics(both[0], both[1], heads, (_("measured |change|"), _("gradient estimate"))),
                "cause-rankings",
                f"{name}-estimate",
                _("Importance of each head by switching it off, against the estimate from gradients"),
            )
            here = dict.fromkeys(head.site for head in heads)
            st.html(html.swatches([(SITE_COLOURS[site], sites.label(site)) for site in here]))
        with st.container():
            table = correlations(both[0], both[1], attention, heads)
            st.html(html.table(*table, label=_("How the rankings agree")))
            to_compare = _("Measure the curated set in the tab Measured to compare attention.")
            scale = _("Spearman’s ρ: 1 where two metrics rank the heads alike, 0 where they have nothing in common.")
            st.caption(in_a_row((scale, to_compare if attention is None else "")))


def correlations(
    measured: Float[np.ndarray, "head"],
    estimated: Float[np.ndarray, "head"],
    attention: Float[np.ndarray, "head"] | None,
    heads: Sequence["HeadName"],
) -> tuple[tuple[html.Column, ...], list[tuple[str, ...]]]:
    """Columns and rows of a table: ρ of each two rankings, of all heads, then of those of each site."""
    pairs = {_("Switched off, and gradient estimate"): (measured, estimated)}
    if attention is not None:
        pairs[_("Switched off, and attention accuracy")] = (measured, attention)
        pairs[_("Gradient estimate, and attention accuracy")] = (estimated, attention)
    of_site = {site: [head.site == site for head in heads] for site in dict.fromkeys(head.site for head in heads)}
    titles = [_("All"), *(_(sites.NAMES[site].short).capitalize() for site in of_site if len(of_site) > 1)]
    rows = []
    for name, (first, second) in pairs.items():
        parts = [(first, second), *((first[here], second[here]) for here in of_site.values())]
        values = [rank_correlation(*part) for part in parts[: len(titles)]]
        rows.append((name, *("–" if np.isnan(value) else signed(value) for value in values)))
    return (html.Column(_("Rankings")), *(html.Column(title, is_number=True) for title in titles)), rows


def _table(
    measured: "HeadEffects",
    estimated: "HeadEffects",
    attention: Float[np.ndarray, "head"] | None,
    heads: Sequence["HeadName"],
    order: np.ndarray,
) -> None:
    table: dict[str, list[float] | list[str]] = {
        _("Head"): [switched_heads.name(head) for head in heads],
    }
    columns = {
        _("Change"): measured.mean_changes.numpy(),
        _("|Change|"): measured.importance.numpy(),
        _("Estimate"): estimated.mean_changes.numpy(),
        _("|Estimate|"): estimated.importance.numpy(),
        _("Accuracy change"): measured.accuracy_changes.numpy(),
    } | ({} if attention is None else {_("Attention accuracy"): attention})
    table |= {title: values[order].tolist() for title, values in columns.items()}
    config = {title: st.column_config.NumberColumn(format="%.3f") for title in columns}
    st.dataframe(table, column_config=config, hide_index=True, height=360)
    st.caption(
        _(
            "Nats, means over sentences; |…| is the mean of absolute values, by which heads are ranked. Click a "
            "title to sort. Accuracy change: how much larger the share of right choices becomes without the head."
        )
    )
