"""What the film of a training shows of one sentence and one attention, coded and compressed for the browser.

Weights travel as the cells of `viz.core.tiles.code`, frame by frame, each [layer, head, row, key].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float, UInt8
from numpy.typing import NDArray

from viz.components.matrix_picture.component import ColourScale
from viz.core import fingerprint, payload, theme
from viz.core.html import visible
from viz.core.sites import ENCODER
from viz.core.tiles import FIRST_CELL, FIRST_THOUSANDTH, code
from viz.core.token_text import display_tokens
from viz.pages.why_attention.through_training import names
from viz.ui import head_jobs

if TYPE_CHECKING:
    from model.analysis.metrics.head_jobs import HeadJob
    from model.training.film import Film, FilmSentence

#: The most weights that are sent: of more, only some frames are; a frame that has more itself is not shown.
MOST_SENT: Final = 3_000_000
#: Longer texts and tokens are cut, and of the dev sets so many are drawn.
MOST_TEXT, MOST_TOKEN, MOST_SETS = 240, 32, 2
MOST_SET_NAME: Final = 14

#: The cell of each number that a film can hold for a weight.
_CELLS: Final = code(np.arange(256, dtype=np.float32) / 255)


@dataclass(frozen=True, eq=False)
class FilmView:
    """Ready to be sent.

    Attributes:
        header: all but what a person chooses.
        deflated: the weights, and the metric of each frame and head, compressed.
        frames: the frames of the film that are sent.
        shape: layers and heads.
        digest: a fingerprint of both.
    """

    header: Mapping[str, object]
    deflated: tuple[NDArray[np.uint8], ...]
    frames: tuple[int, ...]
    shape: tuple[int, int]
    digest: str


def kept_frames(count: int, weights: int) -> tuple[int, ...]:
    """Which of `count` frames with so many weights each are sent: evenly spaced, the first and the last among them."""
    kept = max(1, min(count, MOST_SENT // weights))
    return tuple(
        dict.fromkeys(np.linspace(count - 1 if kept == 1 else 0, count - 1, kept).round().astype(int).tolist())
    )


def is_too_large(weights: UInt8[np.ndarray, "frame layer head query key"]) -> bool:
    """Whether a single frame is more than is sent."""
    return bool(weights[0].size > MOST_SENT)


def pack_view(
    film: "Film",
    sentence: "FilmSentence",
    site: str,
    tokens: tuple[Sequence[str], Sequence[str]],
    jobs: "Sequence[Mapping[tuple[int, int], tuple[HeadJob, ...]]]",
    metric: str,
    values: Float[np.ndarray, "frame layer head"],
) -> FilmView:
    """Code and compress one attention on one sentence.

    Args:
        film, sentence, site: what is shown.
        tokens: the names of rows and keys.
        jobs: of the heads, at each frame of the film.
        metric, values: the number that is shown of every head, likewise.
    """
    weights = sentence.weights[site]
    layers, heads = weights.shape[1:3]
    frames = kept_frames(len(film.steps), weights[0].size)
    chosen = list(frames)
    cells = _CELLS[weights[chosen]]
    planes = np.stack([cells & 255, cells >> 8]).astype(np.uint8)
    numbers = values[chosen].astype("<f4").ravel().view(np.uint8)
    deflated = tuple(np.frombuffer(payload.deflate(part), np.uint8) for part in (planes, numbers))
    scale = ColourScale.root("weight", 1.0)
    header: dict[str, object] = {
        "layers": layers,
        "heads": heads,
        "rowTokens": [cut(token, 2 * MOST_TOKEN) for token in display_tokens(tokens[0])],
        "columnTokens": [cut(token, MOST_TOKEN) for token in display_tokens(tokens[1])],
        "sides": ["queries", "keys"],
        "rowsNote": "" if site == ENCODER else "A row reads the first token and writes the second.",
        "source": cut(visible(sentence.source)),
        "target": cut(visible(sentence.target)),
        "translations": [cut(visible(sentence.translations[frame])) for frame in frames],
        "steps": [film.steps[frame] for frame in frames],
        "losses": [None if isnan(film.losses[frame]) else film.losses[frame] for frame in frames],
        "scores": _scores(film, frames),
        "jobs": [_jobs(jobs[frame], heads) for frame in frames],
        "metric": _metric(metric, site),
        "stops": theme.SEQUENTIAL,
        "ticks": theme.SQRT_TICKS,
        "marks": scale.marks,
        "keptColour": theme.HEAD_COLOURS[1],
        "firstCell": FIRST_CELL.tolist(),
        "firstThousandth": FIRST_THOUSANDTH.tolist(),
    }
    return FilmView(header, deflated, frames, (layers, heads), fingerprint.digest(repr(header), *deflated))


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text that is not longer than this."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _scores(film: "Film", frames: Sequence[int]) -> list[tuple[str, list[float]]]:
    shown = list(film.scores.items())[:MOST_SETS]
    return [(cut(visible(name), MOST_SET_NAME), [values[frame] for frame in frames]) for name, values in shown]


def _jobs(of_heads: "Mapping[tuple[int, int], tuple[HeadJob, ...]]", heads: int) -> list[tuple[int, str, str]]:
    """The surest job of each head that has one: which head, the word under its tile, and all of it."""
    return [
        (
            layer * heads + head,
            head_jobs.NAMES[of[0].metric][1],
            f"{head_jobs.NAMES[of[0].metric][0]} {of[0].value:.2f}",
        )
        for (layer, head), of in of_heads.items()
    ]


def _metric(metric: str, site: str) -> dict[str, object]:
    text = names.TEXTS[metric]
    return {
        "name": text.name,
        "unit": text.unit,
        "decimals": text.decimals,
        "isShare": metric not in names.NO_SHARES,
        "note": f"{text.name}: {names.meaning(metric, site)}. Mean over all sentences of the film.",
    }
