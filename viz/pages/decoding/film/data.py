"""What the film shows of a decoding, computed once for all viewers."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from viz.access import attention
from viz.pages.decoding.film import component
from viz.pictures.focus import FocusAxis
from viz.server.caches import cached
from viz.text.written import CROSS, DECODER

if TYPE_CHECKING:
    from model import DecodingStep, Trace
    from model.reader import Writer

#: A class of forty looks at one each; one of the longest takes 3.4 MB.
MAX_FILMS: Final = 48


@cached(max_entries=MAX_FILMS)
def film(trace: "Trace", writer: "Writer") -> component.PlayerData:
    """Every step of a trace with all its weights and its distribution, ready to be sent."""
    before = trace.rows_before
    titles = component.TWO_ATTENTIONS if CROSS in trace.sites else component.ONE_ATTENTION
    of_source = FocusAxis("source")
    if DECODER not in trace.sites:
        titles, sources, cross = component.SOURCE_ALONE, trace.source_tokens, attention.all_weights(trace, CROSS)
        own = np.zeros((*cross.shape[:3], cross.shape[2]), np.float32)
    elif titles == component.TWO_ATTENTIONS:
        own = attention.all_weights(trace, DECODER)[:, :, before:]
        sources, cross, own = trace.source_tokens, attention.all_weights(trace, CROSS), own[..., before:]
    else:
        own = attention.all_weights(trace, DECODER)[:, :, before:]
        # A decoder alone looks at the text and at what it has written in one row: the text stands where a source would.
        sources, cross, own = trace.target_tokens[:before], own[..., :before], own[..., before:]
        of_source = FocusAxis("target", groups=None if before else ((),))
        if not before:  # of a text of one token there is nothing but what was written
            sources, cross = ("∅",), np.zeros((*own.shape[:3], 1), np.float32)
    spreads = writer.spread(trace)
    steps = map(_player_step, trace.steps, spreads.chosen_ranks.tolist())
    distributions = component.PlayerSpread(
        best=spreads.best.numpy(),
        counts=spreads.counts.float().numpy(),
        centres=spreads.centres.numpy(),
        vocab_size=writer.vocab_size,
    )
    rows, _keys = attention.focus_axes(trace, CROSS if CROSS in trace.sites else DECODER)
    axes = replace(rows, ahead=rows.ahead + before), of_source, FocusAxis("target", ahead=before)
    return component.PlayerData.of(
        sources, trace.target_tokens[before:], tuple(steps), cross, own, distributions, titles, axes
    )


def written_axis(trace: "Trace") -> FocusAxis:
    """The tokens that the steps of a decoding write, whatever their rows stand for as queries."""
    return FocusAxis("target", ahead=trace.rows_before + 1)


def _player_step(step: "DecodingStep", rank: int) -> component.PlayerStep:
    candidates = tuple(
        component.PlayerCandidate(candidate.token_id, candidate.token, candidate.log_prob)
        for candidate in step.candidates
    )
    return component.PlayerStep(step.token_id, step.token, step.log_prob, step.entropy, rank, candidates)
