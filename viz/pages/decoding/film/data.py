"""What the film shows of a decoding, computed once for all viewers."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.access import attention
from viz.access.blocks import block_names, blocks, has_silence, over_blocks
from viz.pages.decoding.film import component
from viz.pages.decoding.film.lane import Heads, lane_of
from viz.pictures.focus import FocusAxis
from viz.pictures.source_picture import SourcePicture
from viz.server.caches import cached
from viz.text.written import CROSS, DECODER

if TYPE_CHECKING:
    from model import DecodingStep, Trace
    from model.reader import Writer

#: A class of forty looks at one each; one of the longest takes 3.4 MB.
MAX_FILMS: Final = 48


@cached(max_entries=MAX_FILMS)
def film(trace: "Trace", writer: "Writer", timed_by: Heads = (), *, sinks: bool = True) -> component.PlayerData:
    """Every step of a trace with all its weights and its distribution, ready to be sent.

    Its lane has the times that these heads give the words. Without sinks, weights on these are 0.
    """
    before = trace.rows_before
    titles = component.TWO_ATTENTIONS if CROSS in trace.sites else component.ONE_ATTENTION
    of_source = FocusAxis("source")
    if DECODER not in trace.sites:
        titles, sources, cross = (
            component.SOURCE_ALONE,
            trace.source_tokens,
            attention.all_weights(trace, CROSS, sinks=sinks),
        )
        own = np.zeros((*cross.shape[:3], cross.shape[2]), np.float32)
    elif titles == component.TWO_ATTENTIONS:
        own = _told_together(attention.all_weights(trace, DECODER, slice(before, None), sinks=sinks), before)
        groups = blocks(trace)
        sources = block_names(trace, groups)
        cross = over_blocks(attention.all_weights(trace, CROSS, slice(before, None), sinks=sinks), groups)
        of_source = FocusAxis("source", groups=groups if len(groups) < len(trace.source_tokens) else None)
    else:
        own = attention.all_weights(trace, DECODER, slice(before, None), sinks=sinks)
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
    first, *others = trace.target_tokens[before:]
    targets = (told(trace) or first, *others) if CROSS in trace.sites else (first, *others)
    moments = 0 if trace.source.waveform is None else len(sources) - has_silence(trace)
    return component.PlayerData.of(
        sources, targets, tuple(steps), cross, own, distributions, titles, axes,
        lane=lane_of(trace, timed_by), moments=moments, picture=SourcePicture.of(trace.source),
    )  # fmt: skip


def fits(trace: "Trace") -> bool:
    """Whether a film is made of a trace: of a longer text it is not; frames of a sound are taken together."""
    if trace.source.has_words or not trace.source_tokens:
        return not any(attention.is_long(trace, site) for site in trace.sites)
    return len(trace.target_tokens) <= attention.SHORT


def told(trace: "Trace") -> str:
    """What a decoder beside an encoder was told before it wrote, one column of the film; "" of a single token."""
    tokens = trace.target_tokens[: trace.rows_before + 1] if CROSS in trace.sites else ()
    return "".join(tokens) if len(tokens) > 1 else ""


def _told_together(
    own: Float[np.ndarray, "layer head step target"], before: int
) -> Float[np.ndarray, "layer head step step"]:
    """Weights on all that was read before the first step in one column, the first."""
    return np.concatenate((own[..., : before + 1].sum(-1, keepdims=True), own[..., before + 1 :]), axis=-1)


def written_axis(trace: "Trace") -> FocusAxis:
    """The tokens that the steps of a decoding write, whatever their rows stand for as queries."""
    return FocusAxis("target", ahead=trace.rows_before + 1)


def _player_step(step: "DecodingStep", rank: int) -> component.PlayerStep:
    candidates = tuple(
        component.PlayerCandidate(candidate.token_id, candidate.token, candidate.log_prob)
        for candidate in step.candidates
    )
    return component.PlayerStep(step.token_id, step.token, step.log_prob, step.entropy, rank, candidates)
