"""The masks as the model used them, and the positional encodings as it added them. Knows nothing of their formulas."""

from dataclasses import replace

import streamlit as st

from viz import controls, frame, loader, state
from viz.figures.masks import mask_heatmap
from viz.figures.positions import encoding_curves, encoding_heatmap

frame.title(
    "Masks & positions",
    "What attention is allowed to see, and how it knows the order. In a mask, a bright cell is a key that the query in "
    "that row may attend to. An encoding is added to each token's embedding: equal tokens then differ by their place.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    masks_tab, positions_tab = st.tabs(
        state.PARTS, key=state.bind("part"), on_change=state.take, args=("part",), default=state.current().part
    )
    if masks_tab.open:
        with masks_tab:
            companion = controls.sentence("companion", "Put into one batch with")
            masks = loader.masks((trace.text, companion), state.current())
            st.caption(
                "Sentences of a batch share one length, so the shorter one is filled up with `<pad>`, which nobody may "
                "look at. The decoder also must not see what it has not written yet: that is the triangle."
            )
            for row, name in enumerate(("The sentence", "Its companion in the batch")):
                st.subheader(name, anchor=False)
                source, target = masks.source_tokens[row], masks.target_tokens[row]
                panels = (
                    ("Encoder self-attention: padding", masks.encoder_self[row], source, source),
                    ("Decoder self-attention: causal, padding", masks.decoder_self[row], target, target),
                    ("Decoder cross-attention: padding", masks.decoder_cross[row], target, source),
                )
                with st.grid(3, min_column_width=270, gap="medium"):
                    for index, (title, mask, queries, keys) in enumerate(panels):
                        with st.container():
                            st.caption(title)
                            st.plotly_chart(
                                mask_heatmap(mask, queries, keys),
                                key=f"mask-{row}-{index}",
                                config=frame.CHART_CONFIG,
                                alt=f"{name}: {title}",
                            )
    if positions_tab.open:
        with positions_tab:
            side = controls.side()
            st.caption(
                "Each row is what was added to one token. Even dimensions hold a sine and odd ones the cosine of the "
                "same angle, so neighbours alternate. On the left the angle turns fast from token to token, on the "
                "right it hardly moves. Below, single dimensions as curves over the tokens."
            )
            encoding = trace.positional[side].numpy()
            tokens = trace.source_tokens if side == "source" else trace.target_tokens
            st.plotly_chart(
                encoding_heatmap(encoding, tokens),
                key="encoding",
                config=frame.CHART_CONFIG,
                alt="Positional encoding, one row a token, one column a dimension",
            )
            selection = state.current()
            known = tuple(d for d in selection.dimensions if d < encoding.shape[1])
            state.put(replace(selection, dimensions=known))
            dimensions = controls.dimensions(encoding.shape[1])
            st.plotly_chart(
                encoding_curves(encoding, dimensions, tokens),
                key="curves",
                config=frame.CHART_CONFIG,
                alt="The chosen dimensions of the positional encoding over the tokens, one curve each",
            )
