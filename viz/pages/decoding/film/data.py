"""What the film shows of a decoding, derived by the model's own functions and computed once for all viewers.

Like `viz.access.derived` a door from the pages to the model; torch is imported inside functions. Knows nothing of
widgets.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import generation
from viz.pages.decoding.film.payload import (
    ONE_ATTENTION,
    TWO_ATTENTIONS,
    PlayerCandidate,
    PlayerData,
    PlayerSpread,
    PlayerStep,
)
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import DecodingStep, Trace

MAX_FILMS: Final = 16


def film(trace: "Trace", selection: Selection) -> PlayerData:
    """Every step of a trace with all its weights and its distribution, ready to be sent."""
    loaded = generation.writer(selection)
    # Two decodings of a sentence differ in what was written, or in what was done to heads meanwhile.
    decoding = tuple(step.token_id for step in trace.steps), repr(trace.edits)
    return _film(trace.text, decoding, loaded.digest, str(loaded.device), trace, loaded)


@st.cache_resource(max_entries=MAX_FILMS, show_spinner=False)
def _film(
    text: str,
    decoding: tuple[tuple[int, ...], str],
    digest: str,
    device: str,
    _trace: "Trace",
    _writer: Any,
) -> PlayerData:
    before = generation.rows_before(_trace)
    own = _stacked(_trace, "decoder.self")[:, :, before:]
    titles = TWO_ATTENTIONS if "decoder.cross" in _trace.sites else ONE_ATTENTION
    if titles == TWO_ATTENTIONS:
        sources, cross, own = _trace.source_tokens, _stacked(_trace, "decoder.cross"), own[..., before:]
    else:
        # A decoder alone looks at the text and at what it has written in one row: the text stands where a source would.
        sources, cross, own = _trace.target_tokens[:before], own[..., :before], own[..., before:]
        if not before:  # of a text of one token there is nothing but what was written
            sources, cross = ("∅",), np.zeros((*own.shape[:3], 1), np.float32)
    spreads = generation.spread(_trace, _writer)
    steps = map(_player_step, _trace.steps, spreads.chosen_ranks.tolist())
    distributions = PlayerSpread(
        best=spreads.best.numpy(),
        counts=spreads.counts.float().numpy(),
        centres=spreads.centres.numpy(),
        vocab_size=_writer.config.vocab_size,
    )
    return PlayerData.of(sources, _trace.target_tokens[before:], tuple(steps), cross, own, distributions, titles)


def _stacked(trace: "Trace", site: str) -> Float[np.ndarray, "layer head query key"]:
    return np.stack([trace.weights(site, layer).numpy() for layer in range(trace.layers_of(site))])


def _player_step(step: "DecodingStep", rank: int) -> PlayerStep:
    candidates = tuple(PlayerCandidate(one.token_id, one.token, one.log_prob) for one in step.candidates)
    return PlayerStep(step.token_id, step.token, step.log_prob, step.entropy, rank, candidates)
