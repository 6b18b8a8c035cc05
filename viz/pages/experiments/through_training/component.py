"""The film of a training in the browser: curves, tiles of all heads, one head large, and a metric of each as lines.

One attention on one sentence is sent once, at all frames; stepping and the choice of a head happen in
`training_film.js`, which then reports both, so that a URL can follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from jaxtyping import Float, UInt8
from numpy.typing import NDArray

from viz import theme
from viz.pictures import payload
from viz.pictures.component import Component, play
from viz.pictures.matrix_picture.component import ColourScale
from viz.pictures.payload import LOCAL, read
from viz.pictures.tiles.codes import CellCode, code
from viz.text.html import visible
from viz.text.messages import _, said, shown
from viz.text.metrics import JOBS, METRICS
from viz.text.written import ENCODER, display_tokens

if TYPE_CHECKING:
    from model.analysis.metrics.head_jobs import HeadJob
    from model.training.film import Film, FilmSentence

_FOLDER: Final = "pages/experiments/through_training"
COMPONENT: Final = Component(f"{_FOLDER}/training_film.js", f"{_FOLDER}/training_film.css")


@dataclass(frozen=True)
class FilmState:
    """Which of the frames that were sent is shown (`step`), and the open head; all count from 0."""

    step: int
    layer: int
    head: int


#: The most weights that are sent: of more, only some frames are; a frame that has more itself is not shown.
MOST_SENT: Final = 3_000_000
#: Longer texts and tokens are cut, and of the dev sets so many are drawn.
MOST_TEXT, MOST_TOKEN, MOST_SETS = 240, 32, 2
MOST_SET_NAME: Final = 14
#: The cell of each number that a film can hold for a weight.
_CELLS: Final = code(np.arange(256, dtype=np.float32) / 255)
#: The head, counted layer by layer; its surest job, a metric; the number of that.
FilmJob = tuple[int, str, float]
#: What a head has become, by the metric that says so, where no job is named after it.
ALIGNS: Final = {
    "word_out": said("attends to the word being predicted"),
    "word_in": said("attends to the word just read"),
}


def _text(text: str) -> str:
    return cut(visible(text))


def _set_name(text: str) -> str:
    return cut(visible(text), MOST_SET_NAME)


@dataclass(frozen=True, eq=False, kw_only=True)
class FilmView(CellCode):
    """One attention on one sentence, ready to be sent; words in the language of the page run that sends it."""

    layers: int
    heads: int
    #: row_tokens, column_tokens: the names of rows and keys.
    row_tokens: Sequence[str]
    column_tokens: Sequence[str]
    #: source, target, translations: of the sentence; what the model made of it at each frame.
    source: Annotated[str, _text]
    target: Annotated[str, _text]
    translations: Sequence[Annotated[str, _text]]
    #: steps, losses, scores: of each frame; the scores of some dev sets, by name.
    steps: Sequence[int]
    losses: Sequence[Annotated[float, payload.finite]]
    scores: Sequence[tuple[Annotated[str, _set_name], Sequence[float]]]
    #: weights, numbers: compressed; the numbers are the metric of each frame and head.
    weights: NDArray[np.uint8]
    numbers: NDArray[np.uint8]
    site: Annotated[str, LOCAL]  #: the attention
    metric_name: Annotated[str, LOCAL]  #: of the metric of the heads; "" for none
    #: the surest job of each head that has one, at each frame that is sent.
    surest: Annotated[Sequence[Sequence[FilmJob]], LOCAL]
    frames: Annotated[tuple[int, ...], LOCAL]  #: the frames of the film that are sent
    stops: Sequence[str] = theme.SEQUENTIAL
    ticks: Sequence[float] = theme.SQRT_TICKS
    marks: Sequence[tuple[float, str]] = ColourScale.root("", 1.0).marks
    kept_colour: str = theme.ORANGE

    def derived(self) -> dict[str, object]:
        """What rows and columns are; the jobs in words, at each frame; what the metric is."""
        return super().derived() | {
            "sides": [_("queries"), _("keys")],
            "rows_write": self.site != ENCODER,
            "jobs": [[_job(*job) for job in of_frame] for of_frame in self.surest],
            "metric": _metric(self.metric_name, self.site) if self.metric_name else None,
        }

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all."""
        return payload.digest(self)


def training_film(
    view: FilmView, asked: FilmState, *, key: str, name: str, finding: str, threshold: float | None
) -> FilmState | None:
    """Show a film where the page wants it (all of which exists); return where it stands once a person has moved it.

    `finding`: a sentence above it; `threshold`: of the metric, from which on it gives a head a job, if it gives any.
    """

    own = {"name": name, "finding": finding, "threshold": threshold}
    return play(COMPONENT, view, asked=asked, read=partial(read_state, view), digest=view.digest, key=key, more=own)


def read_state(view: FilmView, value: object) -> FilmState | None:
    """What the browser reported, if all that it names exists."""
    steps, layers, heads = map(range, (len(view.frames), view.layers, view.heads))
    return read(FilmState, value, step=steps, layer=layers, head=heads)


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text that is not longer than this."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kept_frames(count: int, weights: int) -> tuple[int, ...]:
    """Choose which of `count` frames of this many weights are sent: evenly spaced, first and last included."""
    kept = max(1, min(count, MOST_SENT // weights))
    frames = np.linspace(count - 1 if kept == 1 else 0, count - 1, kept).round().astype(int)
    return tuple(dict.fromkeys(frames.tolist()))


def is_too_large(weights: UInt8[np.ndarray, "frame layer head query key"]) -> bool:
    """Whether a single frame is more than is sent."""
    return weights.size // len(weights) > MOST_SENT


def pack_view(
    film: "Film",
    sentence: "FilmSentence",
    site: str,
    tokens: tuple[Sequence[str], Sequence[str]],
    jobs: "Sequence[Mapping[tuple[int, int], tuple[HeadJob, ...]]]",
    metric: str,
    values: Float[np.ndarray, "frame layer head"] | None,
) -> FilmView:
    """Code and compress one attention on one sentence, with the jobs, and a metric ("" for none), at each frame."""
    weights = sentence.weights[site]
    _frames, layers, heads, *_tokens = weights.shape
    frames = kept_frames(len(film.steps), weights.size // len(weights))
    chosen = list(frames)
    cells = _CELLS[weights[chosen]]
    planes = np.stack([cells & 255, cells >> 8]).astype(np.uint8)
    numbers = np.empty(0, np.uint8) if values is None else values[chosen].astype("<f4").ravel().view(np.uint8)
    sent, sent_numbers = (np.frombuffer(payload.deflate(part), np.uint8) for part in (planes, numbers))
    return FilmView(
        layers=layers,
        heads=heads,
        row_tokens=[cut(token, 2 * MOST_TOKEN) for token in display_tokens(tokens[0])],
        column_tokens=[cut(token, MOST_TOKEN) for token in display_tokens(tokens[1])],
        source=sentence.source,
        target=sentence.target,
        translations=[sentence.translations[frame] for frame in frames],
        steps=[film.steps[frame] for frame in frames],
        losses=[film.losses[frame] for frame in frames],
        scores=[(name, [of[frame] for frame in frames]) for name, of in list(film.scores.items())[:MOST_SETS]],
        weights=sent,
        numbers=sent_numbers,
        site=site,
        metric_name=metric,
        surest=[_jobs(jobs[frame], heads) for frame in frames],
        frames=frames,
    )


def rows_note(site: str) -> str:
    """How the rows of an attention are named, where that needs a word."""
    return "" if site == ENCODER else _("A row named “a → b” reads a and writes b.")


def _jobs(of_heads: "Mapping[tuple[int, int], tuple[HeadJob, ...]]", heads: int) -> list[FilmJob]:
    return [(layer * heads + head, of[0].metric, of[0].value) for (layer, head), of in of_heads.items()]


def _job(index: int, metric: str, value: float) -> tuple[int, str, str, str]:
    """Which head, the sign under its tile, that sign's colour, and all of the job."""
    job = JOBS[metric]
    return index, job.sign, job.colour, f"{shown(job.name)} {value:.2f}"


def _metric(metric: str, site: str) -> dict[str, object]:
    text = METRICS[metric]
    message = "{name}: {meaning}. Mean over all sentences of the film."
    return {
        "name": shown(text.name),
        "unit": shown(text.unit),
        "decimals": text.decimals,
        "isShare": text.is_share,
        "note": _(message, name=shown(text.name), meaning=text.meaning_at(site)),
    }
