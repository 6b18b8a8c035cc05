"""What layer norm does to the token that is followed, beside what batch norm would do on the same small batch."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz.access import long_texts
from viz.pages.learn.follow_token import data, figures
from viz.selection.examples import BATCH_SENTENCES
from viz.text.messages import _
from viz.text.numbers import decimal
from viz.text.sites import file_name
from viz.text.token_text import display_token
from viz.ui import frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace, Translator
    from viz.selection.learn import Stack


def show(trace: "Trace", translator: "Translator", stack: "Stack", position: int, layer: int) -> None:
    """Three heatmaps of the norm before self-attention of a layer, or after it in a post-norm model."""
    st.subheader(_("Which way a norm works"), anchor=False)
    if any(long_texts.is_long(trace, site) for site in trace.sites):
        frame.note(_("The batch is drawn for sentences of at most {short} tokens.", short=long_texts.SHORT))
        return
    others = tuple(text for text in BATCH_SENTENCES.split("\n") if text != trace.text)
    batch = data.normed_batch(trace, translator, others, stack, layer, "self", position)
    token = plain(display_token(batch.tokens[batch.row]))
    own, first = batch.before[batch.row].numpy(), batch.before[:, 0].numpy()
    st.caption(
        _(
            "The norm of self-attention in layer {layer} reads {num_tokens} tokens, this sentence and {num_others} "
            "others; a row is a token. **Layer norm** works along each row: of the {size} numbers of “{token}” alone "
            "it takes mean {mean} and deviation {std}, whatever else is in the batch, also for a single word being "
            "written. **Batch norm** works along each column: of number 0 over all tokens, mean {column_mean} "
            "and deviation {column_std}. Here without what is learned.",
            layer=layer + 1,
            num_tokens=len(batch.tokens),
            num_others=len(others),
            size=own.size,
            token=token,
            mean=decimal(own.mean()),
            std=decimal(own.std()),
            column_mean=decimal(first.mean()),
            column_std=decimal(first.std()),
        )
    )
    figure = figures.both_norms(
        batch.tokens,
        batch.row,
        np.asarray(batch.before),
        np.asarray(batch.layer_normed),
        np.asarray(batch.batch_normed),
    )
    name = file_name("norms", stack, f"layer{layer}", sentence=trace.text)
    frame.chart(figure, "follow-norms", name, _("The same batch before a norm, after layer norm and after batch norm"))
