"""bertviz's views of an invented trace in an iframe. `?dark=1` asks for the dark form, `?view=` and `?site=` choose."""

from typing import cast

import streamlit as st
import torch

from model import Trace
from model.nn.attention import WeightsOnly
from model.nn.masks import AttentionMask
from model.sources.source import TextSource
from viz.pages.attention.opened_head.bertviz_page import bertviz_height, bertviz_page
from viz.selection.choices import PictureFormat

HOSTILE = (
    "</script><script>parent.document.title='broken out'</script>",
    "<img src=https://evil.example/x.png onerror=\"parent.document.title='broken out'\">",
    "<!--<script>",
    "\u2028'\"`${1}\\",
)
SOURCE = ("▁The", "▁animal", *HOSTILE, "שלום", "\u202eabc", "</s>")
TARGET = ("<s>", "▁Das", "▁Tier", "▁war", "▁müde", ".")
SHAPES = {"encoder.self": (2, 4), "decoder.self": (4, 8), "decoder.cross": (3, 6)}


def invented(source: tuple[str, ...], target: tuple[str, ...]) -> Trace:
    """Seeded noise through a softmax; every attention has layers and heads of its own number."""
    of_stack, inputs = {"encoder": source, "decoder": target}, {}
    for site, (layers, heads) in SHAPES.items():
        stack, kind = site.split(".")
        queries, keys = len(of_stack[stack]), len(source if kind == "cross" else of_stack[stack])
        mask = AttentionMask(num_queries=queries, num_keys=keys, causal=site == "decoder.self")
        scores = [
            2 * torch.randn(heads, queries, keys, generator=torch.Generator().manual_seed(n)) for n in range(layers)
        ]
        held = [of_layer.masked_fill(~mask.rows(slice(None))[0], float("-inf")).softmax(-1) for of_layer in scores]
        inputs[site] = tuple(WeightsOnly(held=of_layer, mask=mask, why="They are invented.") for of_layer in held)
    read = TextSource(text="The <b>animal</b>", tokens=source)
    return Trace(reader_key="", source=read, target_tokens=target, inputs=inputs, recorded={})


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    asked = st.query_params
    tokens = int(asked.get("tokens", "0"))
    words = tuple(f"▁word{i}" for i in range(tokens))
    trace = invented(words or SOURCE, words or TARGET)
    choice = asked.get("site", "encoder.self"), asked.get("view", "Head view")
    layer, saved_as = int(asked.get("layer", "0")), cast(PictureFormat, asked.get("saved", "PNG"))
    page = bertviz_page(trace, *choice, layer=layer, dark="dark" in asked, saved_as=saved_as)
    st.iframe(page, height=bertviz_height(trace, *choice), alt="bertviz")
