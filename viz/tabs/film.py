"""A translation as it was written, token by token, and what could have come. Knows nothing of how weights arise."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import streamlit as st

from viz import footage, frame, long_texts, state, studio, studio_controls
from viz.components.decode_player import Draw, Force, PlayerState, decode_player
from viz.export.names import file_name

if TYPE_CHECKING:
    from model import Trace
    from viz.choices import Selection


@frame.fragment
def show(trace: "Trace") -> None:
    """The film. Another token that a person chooses in it, or has drawn, makes a branch."""
    if any(long_texts.is_long(trace, site) for site in trace.sites):
        st.info(
            f"The film carries the rows of all heads in every step, up to {long_texts.SHORT} tokens a side; there are "
            f"{max(len(trace.source_tokens), len(trace.target_tokens)):,} here. The attention page shows them all.",
            icon=":material/info:",
        )
        return
    selection = state.current().for_model(trace.shapes)
    if "decoder.cross" not in trace.sites:
        st.caption(
            "This model has one attention and no source. What is called cross-attention below is the part of a row "
            "that looks at the text, and self-attention the part that looks at what was written; together they are 1."
        )
    film = footage.film(trace, selection)
    heard = decode_player(film, _place(selection), key="player", name=file_name("film", sentence=trace.text))
    if heard.state is not None:
        selection = replace(selection, **asdict(heard.state))
    state.put(selection)
    studio_controls.type_word(trace, key="write-in-film")
    if heard.wish is None:
        return
    # The new translation begins where it was changed, and the whole page shows it.
    state.change(step=heard.wish.step)
    match heard.wish:
        case Force(step, token_id):
            studio.force(step, token_id)
        case Draw(step, temperature, top_k, top_p):
            studio.draw(step, temperature, top_k, top_p)
    st.rerun()


def _place(selection: "Selection") -> PlayerState:
    return PlayerState(
        step=selection.step,
        layer=selection.layer,
        head=selection.head,
        also=selection.also,
        whose=selection.whose,
        candidates=selection.candidates,
        temperature=selection.temperature,
        top_k=selection.top_k,
        top_p=selection.top_p,
    )
