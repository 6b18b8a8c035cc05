"""Three kinds of Transformer side by side: an encoder alone, a decoder alone, both; what their masks let through."""

from typing import TYPE_CHECKING, Final

import numpy as np

from viz.pages.learn.lessons.pictures import FullPage, Rows, View
from viz.text.html import Column
from viz.text.messages import said
from viz.text.written import CROSS, DECODER, ENCODER

if TYPE_CHECKING:
    from model import Trace
    from viz.pages.learn.lessons.data.shipped import Shipped

#: A decoder alone, on the server's list.
DECODER_ALONE: Final = "induction"


def three_kinds(shipped: "Shipped", *, text: str, letters: str) -> View:
    """The attentions of each kind, and how much of their weight is on later tokens.

    The translator's own encoder stands for an encoder alone; `letters` is what the decoder alone reads.
    """
    both, alone = shipped.trace(text), shipped.trace_of(DECODER_ALONE, letters)
    later = {
        "encoder": _on_later(both, ENCODER), "decoder": _on_later(alone, DECODER),
        "translator": _on_later(both, DECODER),
    }  # fmt: skip
    found: dict[str, float | str] = {f"{name}_later": share for name, share in later.items()}
    found["model"] = DECODER_ALONE
    found |= {
        "encoder_heads": _heads(both, ENCODER),
        "decoder_heads": _heads(alone, DECODER),
        "cross": CROSS in both.sites,
    }
    sees_both = later["encoder"] > 0 == later["decoder"] == later["translator"]
    found["verdict"] = said("An encoder") if sees_both else said("A decoder")
    rows = (
        (said("encoder only (BERT)"), said("the translator's encoder"), said("none"), f"{later['encoder']:.0%}"),
        (said("decoder only (GPT)"), DECODER_ALONE, said("causal"), f"{later['decoder']:.0%}"),
        (said("both (the paper)"), said("the translator"), said("causal in the decoder"), f"{later['translator']:.0%}"),
    )
    columns = (
        Column(said("kind")), Column(said("shown here by")), Column(said("mask")),
        Column(said("weight on later tokens"), is_number=True),
    )  # fmt: skip
    caption = said(
        "The last column is measured: the mean over all heads and rows of the self-attention; in the last row, that of "
        "the decoder. The models read “{text}” and the letters “{letters}”.",
        text=text, letters=letters,
    )  # fmt: skip
    return View(Rows(columns, rows), found, caption, FullPage("attention", {"text": text, "site": ENCODER}))


def _on_later(trace: "Trace", site: str) -> float:
    """The mean over all heads and rows of the weight on keys after the row's own token."""
    shares = [np.triu(trace.weights(site, layer).numpy(), 1).sum(-1).mean() for layer in range(trace.layers_of(site))]
    return float(np.mean(shares))


def _heads(trace: "Trace", site: str) -> int:
    layers, heads = trace.shapes[site]
    return layers * heads
