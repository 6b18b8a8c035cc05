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
from viz.core.messages import _, shown
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
        header: all but what a person chooses, and words.
        site: the attention.
        metric: of the heads; "" for none.
        jobs: the surest job of each head that has one, at each frame that is sent: which head, the job, its number.
        deflated: the weights, and the metric of each frame and head, compressed.
        frames: the frames of the film that are sent.
        shape: layers and heads.
        digest: a fingerprint of both.
    """

    header: Mapping[str, object]
    site: str
    metric: str
    jobs: tuple[tuple[tuple[int, str, float], ...], ...]
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
    values: Float[np.ndarray, "frame layer head"] | None,
) -> FilmView:
    """Code and compress one attention on one sentence.

    Args:
        film, sentence, site: what is shown.
        tokens: the names of rows and keys.
        jobs: of the heads, at each frame of the film.
        metric, values: the number that is shown of every head, likewise; "" and None where there is none.
    """
    weights = sentence.weights[site]
    layers, heads = weights.shape[1:3]
    frames = kept_frames(len(film.steps), weights[0].size)
    chosen = list(frames)
    cells = _CELLS[weights[chosen]]
    planes = np.stack([cells & 255, cells >> 8]).astype(np.uint8)
    numbers = np.empty(0, np.uint8) if values is None else values[chosen].astype("<f4").ravel().view(np.uint8)
    deflated = tuple(np.frombuffer(payload.deflate(part), np.uint8) for part in (planes, numbers))
    header: dict[str, object] = {
        "layers": layers,
        "heads": heads,
        "rowTokens": [cut(token, 2 * MOST_TOKEN) for token in display_tokens(tokens[0])],
        "columnTokens": [cut(token, MOST_TOKEN) for token in display_tokens(tokens[1])],
        "source": cut(visible(sentence.source)),
        "target": cut(visible(sentence.target)),
        "translations": [cut(visible(sentence.translations[frame])) for frame in frames],
        "steps": [film.steps[frame] for frame in frames],
        "losses": [None if isnan(film.losses[frame]) else film.losses[frame] for frame in frames],
        "scores": _scores(film, frames),
        "stops": theme.SEQUENTIAL,
        "ticks": theme.SQRT_TICKS,
        "marks": ColourScale.root("", 1.0).marks,
        "keptColour": theme.HEAD_COLOURS[1],
        "firstCell": FIRST_CELL.tolist(),
        "firstThousandth": FIRST_THOUSANDTH.tolist(),
    }
    surest = tuple(_jobs(jobs[frame], heads) for frame in frames)
    digest = fingerprint.digest(repr((header, site, metric, surest)), *deflated)
    return FilmView(header, site, metric, surest, deflated, frames, (layers, heads), digest)


def words(view: FilmView) -> dict[str, object]:
    """What the header lacks, for views are kept for all viewers: words, in the language of this page run."""
    return {
        "sides": [_("queries"), _("keys")],
        "jobs": [[_job(*job) for job in of_frame] for of_frame in view.jobs],
        "metric": _metric(view.metric, view.site) if view.metric else None,
    }


def rows_note(site: str) -> str:
    """How the rows of an attention are named, where that needs a word."""
    return "" if site == ENCODER else _("A row reads the first token and writes the second.")


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text that is not longer than this."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _scores(film: "Film", frames: Sequence[int]) -> list[tuple[str, list[float]]]:
    shown = list(film.scores.items())[:MOST_SETS]
    return [(cut(visible(name), MOST_SET_NAME), [values[frame] for frame in frames]) for name, values in shown]


def _jobs(of_heads: "Mapping[tuple[int, int], tuple[HeadJob, ...]]", heads: int) -> tuple[tuple[int, str, float], ...]:
    return tuple((layer * heads + head, of[0].metric, of[0].value) for (layer, head), of in of_heads.items())


def _job(index: int, metric: str, value: float) -> tuple[int, str, str]:
    """Which head, the word under its tile, and all of the job."""
    name, short = map(shown, head_jobs.NAMES[metric])
    return index, short, f"{name} {value:.2f}"


def _metric(metric: str, site: str) -> dict[str, object]:
    text = names.TEXTS[metric]
    return {
        "name": shown(text.name),
        "unit": shown(text.unit),
        "decimals": text.decimals,
        "isShare": metric not in names.NO_SHARES,
        "note": _(
            "{name}: {meaning}. Mean over all sentences of the film.",
            name=shown(text.name),
            meaning=names.meaning(metric, site),
        ),
    }
