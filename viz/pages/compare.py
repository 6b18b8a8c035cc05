"""Two sentences, a token in each: where every head of a layer looks from it, and how that differs.

Knows nothing of why a head looks anywhere.
"""

import streamlit as st

from viz import choices, controls, focus, frame, state
from viz.components.wire import display_token
from viz.export.names import file_name
from viz.figures.comparison import align, difference_heatmap, row_difference
from viz.figures.heads import head_rows
from viz.tabs import lab_cause, lab_measured

frame.title(
    "Compare",
    "Two sentences that differ in a word, one token in each, and every head of a layer: each row is one head and shows "
    "where it looks from that token. Below, the difference: warm where the second sentence gives a token more weight, "
    "cold where the first does.",
)


def _side_by_side() -> None:
    """Two sentences, a token in each."""
    first = frame.read_sentence(state.current().text)
    second = frame.read_sentence(controls.sentence("other", "Compare with"))
    state.put(state.current().within(first.num_layers, first.num_heads))
    with st.container(horizontal=True):
        site = controls.site(first.sites)
        layer = controls.layer(first.num_layers)

    rows, keys = [], []
    with st.grid(2, min_column_width=430, gap="medium"):
        for trace, field, label in ((first, "token", "First sentence"), (second, "other_token", "Second sentence")):
            with st.container():
                start = focus.default_row(trace, site)
                row = controls.token(field, f"{label}: look from", focus.row_labels(trace, site), default=start)
                rows.append(trace.weights(site, layer, rows=[row])[:, 0].numpy())
                keys.append(trace.axis_tokens(site)[1])
                st.plotly_chart(
                    head_rows(rows[-1], keys[-1]),
                    key=f"rows-{field}",
                    config=frame.chart_config(file_name(f"{site} layer{layer} row{row}", sentence=trace.text)),
                    alt=f"{label}: weights from the chosen token, one row a head, layer {layer + 1}",
                )

    st.subheader("Difference", anchor=False)
    alignment = align(*keys)
    if alignment.first:
        shared = [keys[0][position] for position in alignment.first]
        st.plotly_chart(
            difference_heatmap(row_difference(rows[0], rows[1], alignment), shared),
            key="difference",
            config=frame.chart_config(file_name(f"difference {site} layer{layer}", sentence=first.text)),
            alt="Second minus first, one row a head, for the tokens that both sentences have",
        )
    st.caption(
        "Only tokens that stand in both sentences, in the same order, are compared, so a row need not add up to zero. "
        "These stand in one sentence only:"
    )
    only = (("first", keys[0], alignment.only_first), ("second", keys[1], alignment.only_second))
    named = (f"{name}: {'  '.join(display_token(tokens[i]) for i in left) or 'none'}" for name, tokens, left in only)
    st.text("    ".join(named))


with frame.errors_shown():
    contents = (_side_by_side, lab_measured.show, lab_cause.show)
    frame.tabs("lab", dict(zip(choices.LAB, contents, strict=True)))
