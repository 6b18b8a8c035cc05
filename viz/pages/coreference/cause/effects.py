"""Rank the heads by what switching each off does, beside two other rankings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.core import html, sites
from viz.core.file_names import file_name
from viz.core.numbers import signed
from viz.pages.coreference.cause import data, site_maps, switched_heads, tables, verdicts
from viz.pages.coreference.cause.figures import SITE_COLOURS, two_metrics
from viz.pages.coreference.data import Pair, curated, scores_task
from viz.selection import state
from viz.ui import frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.metrics.head_names import HeadName


@frame.fragment
def show(pairs: Sequence[Pair], show_pair: Callable[[], None]) -> None:
    """Maps of what each head does, which one flips the choice, a table, and how the rankings agree.

    Args:
        pairs: over which.
        show_pair: draws the sentences of the one pair, if it is one.
    """
    cases = [case for pair in pairs for case in pair.cases]
    replacement, translator = state.current().coreference.replacement, models.translator(state.current().model)
    heads = data.all_heads(translator)
    task = data.effects(translator, cases, replacement)
    effects = long_work.outcome(task, "Switch off each head in turn", key="cause-effects", start=len(pairs) == 1)
    if effects is None:
        show_pair()
        return
    measured, estimated = effects
    name = file_name("effects", replacement, pairs[0].name or "own pair" if len(pairs) == 1 else "all pairs")
    site_maps.show(
        -measured.mean_changes.double().numpy(),
        title="log-odds lost",
        bound=float(measured.intact.abs().mean()),
        key="cause-effects",
        name=name,
        alt="How much the log-odds fall when each head of {} is switched off",
    )
    st.markdown(verdicts.sweep_sentence(measured, heads, cases))
    show_pair()
    st.caption(
        f"Each of the {len(heads)} heads is switched off alone. Rows are layers, columns heads. Warm: the head works "
        f"for the {'pronoun that is written' if pairs[0].is_own else 'right pronoun'}, whose log-odds (log p of it − "
        f"log p of the other, in nats, {verdicts.all_words_given(is_own=pairs[0].is_own)}) fall without it. Cold: it "
        "works against it. One scale for all three, at least as wide as the log-odds of the whole model."
    )
    attention = _attention()
    order = np.argsort(-measured.importance.flatten().numpy(), kind="stable")
    with st.expander("All heads as a table, and other rankings", on_change="rerun", key="cause-table") as opened:
        if opened.open:
            _table(measured, estimated, attention, [heads[i] for i in order], order)
            _rankings(measured.importance.double().numpy(), estimated.importance.double().numpy(), attention, name)
    number_controls.table_button("Effects (CSV)", partial(tables.effects, measured, estimated, heads), name)


def _rankings(
    measured: Float[np.ndarray, "site layer head"],
    estimated: Float[np.ndarray, "site layer head"],
    attention: Float[np.ndarray, "site layer head"] | None,
    name: str,
) -> None:
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            frame.chart(
                two_metrics(measured, estimated, sites.SITES, ("measured |change|", "gradient estimate")),
                "cause-rankings",
                f"{name}-estimate",
                "Importance of each head by switching it off, against the estimate from gradients",
            )
            st.html(html.swatches([(SITE_COLOURS[site], sites.label(site)) for site in sites.SITES]))
        with st.container():
            st.html(html.table(*correlations(measured, estimated, attention), label="How the rankings agree"))
            st.caption(
                "Spearman’s ρ: 1 where two metrics rank the heads alike, 0 where they have nothing in common. "
                + ("" if attention is not None else "Measure the curated set in the tab Measured to compare attention.")
            )


def _attention() -> Float[np.ndarray, "site layer head"] | None:
    """Accuracy of every head on the curated set by its weights, if that was measured; NaN at sites not scored."""
    scores = long_work.known(scores_task(curated(), models.reader(state.current().model), "weights"))
    if scores is None:
        return None
    of_site = {site: of.accuracy.value.double().numpy() for site, of in scores.sites.items()}
    unscored = np.full_like(next(iter(of_site.values())), np.nan)
    return np.stack([of_site.get(site, unscored) for site in sites.SITES])


def correlations(
    measured: Float[np.ndarray, "site layer head"],
    estimated: Float[np.ndarray, "site layer head"],
    attention: Float[np.ndarray, "site layer head"] | None,
) -> tuple[tuple[html.Column, ...], list[tuple[str, ...]]]:
    """Columns and rows of a table: ρ of each two rankings, of all heads, then of those of each site."""
    pairs = {"Switched off, and gradient estimate": (measured, estimated)}
    if attention is not None:
        pairs["Switched off, and attention accuracy"] = (measured, attention)
        pairs["Gradient estimate, and attention accuracy"] = (estimated, attention)
    titles = ("All", *(sites.NAMES[site].short.capitalize() for site in sites.SITES))
    rows = []
    for name, (first, second) in pairs.items():
        parts = [(first, second), *zip(first, second, strict=True)]
        values = [data.rank_correlation(*part) for part in parts]
        rows.append((name, *("–" if np.isnan(value) else signed(value) for value in values)))
    return (html.Column("Rankings"), *(html.Column(title, is_number=True) for title in titles)), rows


def _table(
    measured: "HeadEffects",
    estimated: "HeadEffects",
    attention: Float[np.ndarray, "site layer head"] | None,
    heads: Sequence["HeadName"],
    order: np.ndarray,
) -> None:
    table: dict[str, list[float] | list[str]] = {
        "Head": [switched_heads.name(head) for head in heads],
    }
    columns = {
        "Change": measured.mean_changes.numpy(),
        "|Change|": measured.importance.numpy(),
        "Estimate": estimated.mean_changes.numpy(),
        "|Estimate|": estimated.importance.numpy(),
        "Accuracy change": measured.accuracy_changes.numpy(),
    } | ({} if attention is None else {"Attention accuracy": attention})
    table |= {title: values.ravel()[order].tolist() for title, values in columns.items()}
    config = {title: st.column_config.NumberColumn(format="%.3f") for title in columns}
    st.dataframe(table, column_config=config, hide_index=True, height=360)
    st.caption(
        "Nats, means over sentences; |…| is the mean of absolute values, by which heads are ranked. Click a title "
        "to sort. Accuracy change: how much larger the share of right choices becomes without the head."
    )
