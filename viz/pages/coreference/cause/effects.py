"""Rank the heads by what switching each off does, beside two other rankings."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.core import html, sites
from viz.core.file_names import file_name
from viz.core.numbers import signed
from viz.pages.coreference.cause import data, site_maps, switched_heads, tables
from viz.pages.coreference.cause.figures import SITE_COLOURS, two_metrics
from viz.pages.coreference.data import Pair, curated, scores_task
from viz.selection import state
from viz.ui import frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.metrics.head_names import HeadName

#: How many of the strongest heads can be switched off with one button.
STRONGEST: Final = 5


@frame.fragment
def show(pairs: Sequence[Pair]) -> None:
    """Maps of the change, a table, and how the rankings agree."""
    st.subheader("One head at a time", anchor=False)
    cases = [case for pair in pairs for case in pair.cases]
    replacement, translator = state.current().coreference.replacement, models.translator(state.current().model)
    heads = data.all_heads(translator)
    st.caption(
        f"Each of the {len(heads)} heads is switched off alone, in {len(cases)} sentences, and the log-odds are "
        "compared with those of the whole model."
    )
    task = data.effects(translator, cases, replacement)
    effects = long_work.outcome(task, "Switch off every head in turn", key="cause-effects")
    if effects is None:
        return
    measured, estimated = effects
    name = file_name("effects", replacement, pairs[0].name if len(pairs) == 1 else "all pairs")
    site_maps.show(
        measured.mean_changes.double().numpy(),
        title="change",
        key="cause-effects",
        name=name,
        alt="Change of the log-odds when each head of {} is switched off",
    )
    st.caption(
        "A row is a layer, a column a head. Mean change of the log-odds without it, in nats, one scale for all three: "
        "light blue where the head helps the right pronoun (without it the log-odds fall), yellow where it hinders."
    )
    order = np.argsort(-measured.importance.flatten().numpy(), kind="stable")
    _switch_off_button([heads[i] for i in order[:STRONGEST]])
    attention = _attention()
    _rankings(measured.importance.double().numpy(), estimated.importance.double().numpy(), attention, name)
    with st.expander("All heads as a table", on_change="rerun", key="cause-table") as opened:
        if opened.open:
            _table(measured, estimated, attention, [heads[i] for i in order], order)
    number_controls.table_button("Effects (CSV)", partial(tables.effects, measured, estimated, heads), name)


def _switch_off_button(strongest: Sequence["HeadName"]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Strongest: {switched_heads.names(strongest)}", width="content")
        st.button(
            f"Switch off these {len(strongest)}",
            key="cause-strongest",
            on_click=state.change,
            kwargs={"heads_off": tuple(map(switched_heads.code, strongest)), "others_off": False},
        )


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
                "Spearman’s ρ: 1 where two figures rank the heads alike, 0 where they have nothing in common. "
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
    table: dict[str, list[float] | list[int] | list[str]] = {
        "Attention": [sites.NAMES[head.site].short for head in heads],
        "Layer": [head.layer + 1 for head in heads],
        "Head": [head.head + 1 for head in heads],
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
