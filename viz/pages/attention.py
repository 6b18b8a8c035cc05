"""Every head of one attention at a glance, and one of them opened. Knows nothing of how weights are computed."""

from dataclasses import replace

import streamlit as st

from viz import controls, frame, loader, state
from viz.components.head_grid import head_grid
from viz.figures.heads import head_heatmap

frame.title(
    "Attention",
    "One tile is one head: a row for each token that looks, a column for each token looked at; the lighter, the more "
    "weight. Layers run from top to bottom. Click a tile, or use the arrow keys and Enter, to open the head.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    state.put(state.current().within(trace.num_layers, trace.num_heads))
    grid_tab, lines_tab = st.tabs(
        state.VIEWS, key=state.bind("view"), on_change=state.take, args=("view",), default=state.current().view
    )
    if grid_tab.open:
        with grid_tab:
            site = controls.site(trace.sites)
        query_tokens, key_tokens = trace.axis_tokens(site)
        with grid_tab, st.grid(2, min_column_width=430, gap="medium"):
            selection = state.current()
            weights = loader.all_weights(trace.text, site, selection)
            with st.container():
                opened = head_grid(
                    weights, query_tokens, key_tokens, selected=(selection.layer, selection.head), key="heads"
                )
            if opened is not None and (opened.layer, opened.head) != (selection.layer, selection.head):
                state.put(replace(selection, layer=opened.layer, head=opened.head))
                st.rerun()
            with st.container():
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    layer = controls.layer(trace.num_layers)
                    head = controls.head(trace.num_heads)
                st.plotly_chart(
                    head_heatmap(weights[layer, head], query_tokens, key_tokens),
                    key="open-head",
                    config=frame.CHART_CONFIG,
                    alt=f"{controls.SITE_LABELS[site]}, layer {layer + 1}, head {head + 1}: weights as a heatmap",
                )
    if lines_tab.open:
        # bertviz brings IPython with it; most visits never open this tab.
        from viz.bertviz_view import bertviz_height, bertviz_page

        with lines_tab, frame.errors_shown():
            st.caption(
                "bertviz's head view. A line leads from a token on the left to one it attends to; its strength is the "
                "weight, its colour the head. Point at a token to see its lines alone; click a colour to switch the "
                "head off or on, double-click it to see only that head."
            )
            st.iframe(
                bertviz_page(trace, dark=st.context.theme.type == "dark"),
                height=bertviz_height(trace),
                alt="bertviz's head view of the same sentence",
            )
