"""The ranking of heads by what switching each off does, beside two other rankings: a part of the lab's Cause tab.

Knows nothing of how an effect is measured or estimated.
"""

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
from viz.pages.coreference import tables as measured_tables
from viz.pages.coreference.cause import data, switched_heads
from viz.pages.coreference.cause.data import ChoicePair, SetEffects
from viz.pages.coreference.data import curated, scores_task
from viz.pages.coreference.figures import CHANGE_FLOOR, SITE_COLOURS, head_map, two_figures
from viz.selection import state
from viz.ui import frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.coreference.measure_translator import CoreferenceScores

#: So many of the strongest heads can be switched off with one button.
STRONGEST: Final = 5


@frame.fragment
def show(pairs: Sequence[ChoicePair]) -> None:
    """Maps of the change, a table, and how the rankings agree."""
    st.subheader("One head at a time", anchor=False)
    cases = [case for pair in pairs for case in (pair.a, pair.b)]
    selection = state.current()
    translator = models.translator(selection.model)
    task = data.effects(translator, cases, selection.coreference.replacement)
    heads = len(data.all_heads(translator))
    st.caption(
        f"Each of the {heads} heads is switched off alone, in {len(cases)} sentences, and the log-odds are compared "
        "with those of the whole model."
    )
    found = long_work.outcome(task, "Switch off every head in turn", key="cause-effects")
    if found is not None:
        name = file_name(
            "effects", selection.coreference.replacement, pairs[0].name if len(pairs) == 1 else "all pairs"
        )
        _maps(found, name)
        _rankings(found, name)


def _maps(found: SetEffects, name: str) -> None:
    values = found.measured.mean_changes.double().numpy()
    floor = max(CHANGE_FLOOR, float(np.abs(values).max()))
    with st.grid(3, min_column_width=250, gap="medium"):
        for place, site in enumerate(sites.SITES):
            with st.container():
                st.markdown(f"**{sites.label(site)}**")
                figure = head_map(values[place], title="change", centre=0.0, floor=floor)
                alt = f"Change of the log-odds when each head of {site} is switched off"
                key = f"cause-effects-{site}"
                st.plotly_chart(figure, key=key, config=frame.chart_config(f"{name}-{site}"), alt=alt)
    st.caption(
        "A row is a layer, a column a head. Mean change of the log-odds without it, in nats, one scale for all three: "
        "light blue where the head helps the right pronoun (without it the log-odds fall), yellow where it hinders."
    )


def _rankings(found: SetEffects, name: str) -> None:
    places = data.all_heads(models.translator(state.current().model))
    measured, estimated = (one.importance.double().numpy() for one in (found.measured, found.estimated))
    attention = _attention()
    order = np.argsort(-measured.ravel(), kind="stable")
    strongest = [places[i] for i in order[:STRONGEST]]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Strongest: {switched_heads.names(strongest)}", width="content")
        st.button(
            f"Switch off these {len(strongest)}",
            key="cause-strongest",
            on_click=state.change,
            kwargs={"heads_off": tuple(map(switched_heads.code, strongest)), "others_off": False},
        )
    with st.grid(2, min_column_width=330, gap="medium"):
        with st.container():
            st.plotly_chart(
                two_figures(measured, estimated, sites.SITES, ("measured |change|", "gradient estimate")),
                key="cause-rankings",
                config=frame.chart_config(f"{name}-estimate"),
                alt="Importance of each head by switching it off, against the estimate from gradients",
            )
            st.html(html.swatches([(SITE_COLOURS[site], sites.label(site)) for site in sites.SITES]))
        with st.container():
            st.html(html.table(*_correlations(measured, estimated, attention), label="How the rankings agree"))
            st.caption(
                "Spearman’s ρ: 1 where two figures rank the heads alike, 0 where they have nothing in common. "
                + ("" if attention is not None else "Measure the curated set in the tab Measured to compare attention.")
            )
    _table(found, attention)
    make = partial(measured_tables.effects, found.measured, found.estimated, places)
    number_controls.table_button("Effects (CSV)", make, name)


def _attention() -> Float[np.ndarray, "site layer head"] | None:
    """Accuracy of every head on the curated set by its weights, if that was measured; NaN at sites not scored."""
    selection = state.current()
    scores = long_work.known(scores_task(curated(), models.reader(selection.model), "weights"))
    return None if scores is None else attention_table(scores)


def attention_table(scores: "CoreferenceScores") -> Float[np.ndarray, "site layer head"]:
    """Accuracies in the order of tables of heads."""
    shape = next(iter(scores.sites.values())).accuracy.value.shape
    found = np.full((len(sites.SITES), *shape), np.nan)
    for place, site in enumerate(sites.SITES):
        if site in scores.sites:
            found[place] = scores.sites[site].accuracy.value.double().numpy()
    return found


def _correlations(
    measured: Float[np.ndarray, "site layer head"],
    estimated: Float[np.ndarray, "site layer head"],
    attention: Float[np.ndarray, "site layer head"] | None,
) -> tuple[tuple[html.Column, ...], list[tuple[str, ...]]]:
    """ρ of each two figures: of all heads, then of those of each site."""
    pairs = {"Switched off, and gradient estimate": (measured, estimated)}
    if attention is not None:
        pairs["Switched off, and attention accuracy"] = (measured, attention)
        pairs["Gradient estimate, and attention accuracy"] = (estimated, attention)
    heads = ("Rankings", "All", *(sites.NAMES[site].short.capitalize() for site in sites.SITES))
    columns = tuple(html.Column(title, is_number=place > 0) for place, title in enumerate(heads))
    rows = []
    for what, (first, second) in pairs.items():
        parts = [(first, second), *zip(first, second, strict=True)]
        rows.append((what, *(_rho(data.rank_correlation(*part)) for part in parts)))
    return columns, rows


def _rho(value: float) -> str:
    return "–" if np.isnan(value) else signed(value)


def _table(found: SetEffects, attention: Float[np.ndarray, "site layer head"] | None) -> None:
    places = data.all_heads(models.translator(state.current().model))
    with st.expander("All heads as a table", on_change="rerun", key="cause-table") as opened:
        if not opened.open:
            return
        order = np.argsort(-found.measured.importance.flatten().numpy(), kind="stable")
        columns = {
            "Change": found.measured.mean_changes,
            "|Change|": found.measured.importance,
            "Estimate": found.estimated.mean_changes,
            "|Estimate|": found.estimated.importance,
            "Accuracy change": found.measured.accuracy_changes,
        }
        table: dict[str, list[float] | list[int] | list[str]] = {
            "Attention": [sites.NAMES[places[i].site].short for i in order],
            "Layer": [places[i].layer + 1 for i in order],
            "Head": [places[i].head + 1 for i in order],
        }
        table |= {title: values.flatten()[order.tolist()].tolist() for title, values in columns.items()}
        if attention is not None:
            table["Attention accuracy"] = attention.ravel()[order].tolist()
        config = {title: st.column_config.NumberColumn(format="%.3f") for title in (*columns, "Attention accuracy")}
        st.dataframe(table, column_config=config, hide_index=True, height=360)
        st.caption(
            "Nats, means over sentences; |…| is the mean of absolute values, by which heads are ranked. Click a title "
            "to sort. Accuracy change: how much larger the share of right choices becomes without the head."
        )
