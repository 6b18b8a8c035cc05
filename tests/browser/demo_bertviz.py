"""bertviz's views of an invented trace in an iframe. `?dark=1` asks for the dark form, `?view=` and `?site=` choose."""

from dataclasses import dataclass, field
from typing import cast

import streamlit as st
import torch

from model import Trace
from model.sources.source import TextSource
from viz.pages.attention.opened_head.bertviz_page import bertviz_height, bertviz_page
from viz.selection.choices import PictureFormat

HOSTILE = (
    "</script><script>parent.document.title='broken out'</script>",
    "<img src=https://evil.example/x.png onerror=\"parent.document.title='broken out'\">",
    "<!--<script>",
    "\u2028'\"`${1}\\",
)
SHAPES = {"encoder.self": (2, 4), "decoder.self": (4, 8), "decoder.cross": (3, 6)}


@dataclass(frozen=True)
class Layer:
    """As much of what a layer computed from as the views need."""

    num_heads: int


@dataclass(frozen=True)
class InventedTrace:
    """As much of a trace as the views need; every attention has layers and heads of its own number."""

    source: TextSource = field(
        default_factory=lambda: TextSource(
            text="The <b>animal</b>", tokens=("▁The", "▁animal", *HOSTILE, "שלום", "\u202eabc", "</s>")
        )
    )
    target_tokens: tuple[str, ...] = ("<s>", "▁Das", "▁Tier", "▁war", "▁müde", ".")
    inputs: dict[str, tuple[Layer, ...]] = field(
        default_factory=lambda: {site: (Layer(heads),) * layers for site, (layers, heads) in SHAPES.items()}
    )

    @property
    def text(self) -> str:
        """What was typed."""
        return self.source.text

    def axis_tokens(self, site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Query tokens and key tokens."""
        queries = self.source.tokens if site == "encoder.self" else self.target_tokens
        return queries, self.source.tokens if site == "decoder.cross" else queries

    def row_names(self, site: str) -> tuple[str, ...]:
        """The tokens of an encoder's rows; of a decoder's, what each reads and writes."""
        queries, _ = self.axis_tokens(site)
        if site == "encoder.self":
            return queries
        return tuple(f"{read} → {written}" for read, written in zip(queries, (*queries[1:], "</s>"), strict=True))

    def weights(self, site: str, layer: int) -> torch.Tensor:
        """Seeded noise through a softmax, causal for the decoder's self-attention."""
        queries, keys = map(len, self.axis_tokens(site))
        seed = torch.Generator().manual_seed(layer)
        scores = 2 * torch.randn(self.inputs[site][layer].num_heads, queries, keys, generator=seed)
        if site == "decoder.self":
            scores = scores.masked_fill(~torch.ones(queries, keys, dtype=torch.bool).tril(), float("-inf"))
        return scores.softmax(-1)


def as_trace(invented: InventedTrace) -> Trace:
    """What is invented as the views are given it: they look at no more of a trace."""
    return cast(Trace, invented)


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    asked = st.query_params
    tokens = int(asked.get("tokens", "0"))
    words = tuple(f"▁word{i}" for i in range(tokens))
    invented = InventedTrace(TextSource(text="words", tokens=words), words) if tokens else InventedTrace()
    trace = as_trace(invented)
    choice = asked.get("site", "encoder.self"), asked.get("view", "Head view")
    layer, saved_as = int(asked.get("layer", "0")), cast(PictureFormat, asked.get("saved", "PNG"))
    page = bertviz_page(trace, *choice, layer=layer, dark="dark" in asked, saved_as=saved_as)
    st.iframe(page, height=bertviz_height(trace, *choice), alt="bertviz")
