"""The masks of a batch as the model used them. Knows nothing of how they are made."""

from typing import TYPE_CHECKING

import streamlit as st

from viz import controls, frame, loader, state
from viz.export.names import file_name
from viz.figures.masks import mask_heatmap

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Padding and causal masks of the sentence and of a companion in the same batch."""
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
                        config=frame.chart_config(file_name(title, sentence=trace.text if row == 0 else companion)),
                        alt=f"{name}: {title}",
                    )
