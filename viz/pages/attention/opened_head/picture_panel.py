"""One head of a model of pictures: its row over the picture."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.access import attention, long_texts, models
from viz.access.attention import MatrixView
from viz.pages.attention.opened_head.picture_component import PictureData, picture_attention
from viz.selection import state
from viz.text.messages import _, shown
from viz.text.sites import file_name, head_label, head_name
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Trace


def show(trace: "Trace", site: str) -> None:
    """The picture, and over it the open head's row of the chosen patch; nothing for a model of text."""
    picture = trace.picture
    if picture is None:
        return
    selection = state.current()
    common = selection.common
    measure = MEASURES[common.measure]
    head = common.head if measure.is_per_head else 0
    tokens = trace.source_tokens
    is_long = long_texts.is_long(trace, site)
    if is_long and not measure.is_per_head and len(tokens) > long_texts.MAX_ROLLOUT:
        # The matrix below says why there is none.
        return
    query = state.position("token", len(tokens), 0 if picture.first_patch else len(tokens) // 2)
    # Patches have places in the picture: they are neither joined to words nor left out.
    view = MatrixView(selection.common.measure, whole_words=False, special_tokens=True)
    reader, layer = models.reader(selection.model), selection.common.layer
    if is_long:
        values = long_texts.long_row(trace, reader, site, layer, head, query, view)
    else:
        values = attention.opened_layer(trace, reader, site, layer, view).values[head]
    picture_attention(
        PictureData(
            pixels=picture.pixels.numpy(),
            rows=picture.rows,
            columns=picture.columns,
            first_patch=picture.first_patch,
            tokens=tokens,
            values=values,
            number=shown(measure.number),
            title=head_label(common.layer, head if measure.is_per_head else None),
            query=query,
            file_name=file_name("picture", head_name(site, common.layer, head), sentence=trace.text),
        ),
        on_query=lambda chosen: state.change(token=chosen),
        key="picture-head",
    )
    st.caption(
        _(
            "Where the framed patch looks: the lighter a patch, the more. Click another patch, or move with the "
            "arrow keys and press Enter, to look from there. Below, the same head as a matrix: a row is a patch "
            "(row·column)."
        )
    )
