"""Positions of a source taken together, where there is no room for each: the frames of a sound, a long text."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.access import attention
from viz.pictures.focus import FocusAxis, Groups
from viz.text.messages import _
from viz.text.written import DECODER, ENCODER

if TYPE_CHECKING:
    from model import Trace

#: Columns of a sound while it sounds.
MOST_MOMENTS: Final = 80


def has_silence(trace: "Trace") -> bool:
    """Whether the encoder read silence that was added after a sound."""
    wave = trace.source.waveform
    return wave is not None and wave.frames < len(trace.source_tokens)


def blocks(trace: "Trace") -> Groups:
    """The positions of a source side by side, so many together that the film has room for them; of a sound, all that
    was added after it is one more, and the patches of a picture stay apart.
    """
    length, wave = len(trace.source_tokens), trace.source.waveform
    most = attention.SHORT if trace.source.grid is None else length
    sounding, most = (length, most) if wave is None else (min(length, wave.frames), MOST_MOMENTS)
    size = -(-sounding // most)
    together = tuple(tuple(range(first, min(first + size, sounding))) for first in range(0, sounding, size))
    return together if sounding == length else (*together, tuple(range(sounding, length)))


def block_names(trace: "Trace", groups: Groups) -> tuple[str, ...]:
    """What the blocks are called: as their first positions, all that was added after a sound with a sign of more."""
    names = tuple(trace.source_tokens[first] for first, *_ in groups)
    return (*names[:-1], f"{names[-1]}…") if has_silence(trace) else names


def how_to_read(trace: "Trace") -> tuple[str, ...]:
    """What a column of a sound is; nothing of another source."""
    if (wave := trace.source.waveform) is None:
        return ()
    seconds = round(len(blocks(trace)[0]) * wave.seconds_per_frame, 4)
    column = _("A column is {seconds:g} s of the sound; the weights within it are summed.", seconds=seconds)
    return (column, _("The last column combines all the silence that was added."))[: 1 + has_silence(trace)]


def over_blocks(weights: Float[np.ndarray, "*rows key"], groups: Groups) -> Float[np.ndarray, "*rows block"]:
    """Weights on the positions of a source, summed over each block."""
    summed: np.ndarray = np.add.reduceat(weights, [first for first, *_ in groups], axis=-1)
    return summed


def weights_of(trace: "Trace", site: str) -> Float[np.ndarray, "layer head row column"]:
    """All weights of a site, each layer's as `together`. Raises a ValueError if layers have other numbers of heads."""
    if trace.source.waveform is None or site == DECODER:
        return attention.all_weights(trace, site)
    layers = (trace.weights(site, layer).numpy() for layer in range(trace.layers_of(site)))
    return np.stack([together(trace, site, layer) for layer in layers])


def together(
    trace: "Trace", site: str, weights: Float[np.ndarray, "head row column"]
) -> Float[np.ndarray, "head row column"]:
    """Weights of a layer; of a sound those of its frames as the film takes them together, queries as their mean."""
    if trace.source.waveform is None or site == DECODER:
        return weights
    groups = blocks(trace)
    summed = over_blocks(weights, groups)
    if site == ENCODER:
        summed = over_blocks(summed.swapaxes(-1, -2), groups).swapaxes(-1, -2) / [[len(each)] for each in groups]
    return summed


def sides_of(trace: "Trace", site: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[FocusAxis, FocusAxis]]:
    """The names of the rows and columns of `weights_of`, and what both stand for."""
    rows, keys = trace.row_names(site), trace.axis_names(site)[1]
    axes = attention.focus_axes(trace, site)
    if trace.source.waveform is None or site == DECODER:
        return rows, keys, axes
    groups = blocks(trace)
    keys, of_keys = block_names(trace, groups), FocusAxis("source", groups=groups)
    return (keys, keys, (of_keys, of_keys)) if site == ENCODER else (rows, keys, (axes[0], of_keys))
