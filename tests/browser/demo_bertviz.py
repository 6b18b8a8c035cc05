"""bertviz's head view of an invented trace in an iframe. `?dark=1` asks for its dark form."""

from dataclasses import dataclass

import streamlit as st
import torch

from viz.bertviz_view import bertviz_height, bertviz_page

HOSTILE = "</script><script>parent.document.title='broken out'</script>"


@dataclass(frozen=True)
class InventedTrace:
    """As much of a trace as the view needs."""

    source_tokens: tuple[str, ...] = ("▁The", "▁animal", "▁was", "▁tired", HOSTILE, "שלום", "\u202eabc", "</s>")
    target_tokens: tuple[str, ...] = ("<s>", "▁Das", "▁Tier", "▁war", "▁müde", ".")
    num_layers: int = 4

    def weights(self, site: str, layer: int) -> torch.Tensor:
        """Seeded noise through a softmax, causal for the decoder's self-attention."""
        queries = len(self.source_tokens if site == "encoder.self" else self.target_tokens)
        keys = len(self.target_tokens if site == "decoder.self" else self.source_tokens)
        scores = 2 * torch.randn(8, queries, keys, generator=torch.Generator().manual_seed(layer))
        if site == "decoder.self":
            scores = scores.masked_fill(~torch.ones(queries, keys, dtype=torch.bool).tril(), float("-inf"))
        return scores.softmax(-1)


st.set_page_config(layout="wide")
trace = InventedTrace()
st.iframe(bertviz_page(trace, dark="dark" in st.query_params), height=bertviz_height(trace))
