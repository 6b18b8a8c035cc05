"""What the film shows of a decoding, derived by the model's own functions and computed once for all viewers.

Like `viz.derived` a door from the pages to the model; torch is imported inside functions. Knows nothing of widgets.
"""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz import loader
from viz.choices import Selection
from viz.components.film_data import PlayerCandidate, PlayerData, PlayerSpread, PlayerStep

if TYPE_CHECKING:
    from model import DecodingStep, Trace, Translator

MAX_FILMS: Final = 16


def film(trace: "Trace", selection: Selection) -> PlayerData:
    """Every step of a trace with all its weights and its distribution, ready to be sent."""
    loaded = loader.translator(selection)
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
    _translator: "Translator",
) -> PlayerData:
    from model.analysis.spread import spread

    cross, self_ = (
        np.stack([_trace.weights(site, layer).numpy() for layer in range(_trace.layers_of(site))])
        for site in ("decoder.cross", "decoder.self")
    )
    spreads = spread(_trace, _translator.model)
    steps = map(_player_step, _trace.steps, spreads.chosen_ranks.tolist())
    distributions = PlayerSpread(
        best=spreads.best.numpy(),
        counts=spreads.counts.float().numpy(),
        centres=spreads.centres.numpy(),
        vocab_size=_translator.config.vocab_size,
    )
    return PlayerData.of(_trace.source_tokens, _trace.target_tokens, tuple(steps), cross, self_, distributions)


def _player_step(step: "DecodingStep", rank: int) -> PlayerStep:
    candidates = tuple(PlayerCandidate(one.token_id, one.token, one.log_prob) for one in step.candidates)
    return PlayerStep(step.token_id, step.token, step.log_prob, step.entropy, rank, candidates)
