"""Films of trainings: those that ship, one that a person opens, and what their numbers say of each head."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from jaxtyping import Float

from model.analysis.metrics.head_jobs import HeadJob, jobs_of_heads, rules_at
from model.analysis.metrics.head_metrics import film_metrics
from model.errors import DataError
from model.folder_files import read_as_data, read_file
from model.trace.axes import row_name
from model.training.film import LARGEST, Film, read_film
from viz.pages.experiments.through_training.component import FilmView, pack_view
from viz.pictures.payload import fingerprint
from viz.selection import catalogue
from viz.server.caches import FileState, cached
from viz.text.written import CROSS, DECODER, ENCODER, SITES

if TYPE_CHECKING:
    JobsOfHeads = Mapping[tuple[int, int], tuple[HeadJob, ...]]

#: Shares of weight, which can be compared with one another: what looks at the right source word, and what may be a job.
ALIGNMENT: Final = ("word_out", "word_in")
SHARES: Final = (*ALIGNMENT, "previous", "same", "next", "first", "last", "punctuation")
#: A head that aligns words is shown first if its share grows at least by so much.
CLEAR: Final = 0.2
#: From this share on, a head is said to look at the words that it aligns; other shares are jobs from there on.
ALIGNED: Final = 0.4
Metrics = Mapping[str, Float[np.ndarray, "frame layer head"]]


@dataclass(frozen=True, slots=True)
class Opening:
    """A head whose metric grows most."""

    site: str
    layer: int
    head: int
    metric: str  #: "" where nothing is measured, for every row sees one key alone
    frame: int  #: the one before which the metric grew most since the frame before it; 0 if there is one frame alone
    #: before, after: the metric at the first and the last frame.
    before: float
    after: float
    sentence: int = 0  #: in which it is seen best

    def in_sentence(self, number: int) -> Self:
        """The same, seen in another sentence."""
        return replace(self, sentence=number)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a head has become at the last frame."""

    layer: int
    head: int
    metric: str
    value: float  #: the metric there
    since: int  #: the first frame from which on it stays so


def opening(of_sites: Mapping[str, Metrics]) -> Opening:
    """Of all attentions, the head of the cross-attention whose alignment grows most, or else what grows most."""
    aligning = {site: {name: of[name] for name in ALIGNMENT if name in of} for site, of in of_sites.items()}
    best = _steepest(aligning)
    if best is not None and best.after - best.before >= CLEAR:
        return best
    return _steepest(of_sites) or Opening(next(iter(of_sites)), 0, 0, "", 0, 1.0, 1.0)


def opening_of_site(site: str, metrics: Metrics) -> Opening:
    """The head and metric of one attention that grow most, alignment first."""
    return opening({site: metrics})


def _steepest(of_sites: Mapping[str, Metrics]) -> Opening | None:
    found: list[Opening] = []
    for site, of_site in of_sites.items():
        for name in SHARES:
            # The decoder's last key is seen by one row alone.
            if name not in of_site or (site, name) == (DECODER, "last"):
                continue
            values = of_site[name]
            layer, head = map(int, np.unravel_index(np.argmax(values[-1] - values[0]), values.shape[1:]))
            line = values[:, layer, head]
            frame = int(np.argmax(np.diff(line))) + 1 if len(line) > 1 else 0
            found.append(Opening(site, layer, head, name, frame, float(line[0]), float(line[-1])))
    return max(found, key=lambda each: each.after - each.before, default=None)


def arrivals(site: str, metrics: Metrics, jobs: Sequence[Collection[tuple[int, int, str]]]) -> tuple[Arrival, ...]:
    """What heads have become at the last frame, the highest number first; jobs are (layer, head, metric) of a frame."""
    held = [set(frame) for frame in jobs]
    if site == CROSS:
        for name in set(ALIGNMENT) & metrics.keys():
            for frame, values in enumerate(metrics[name]):
                held[frame] |= {(int(layer), int(head), name) for layer, head in np.argwhere(values >= ALIGNED)}
    found = [
        Arrival(*job, value=float(metrics[job[2]][-1, job[0], job[1]]), since=_since(held, job)) for job in held[-1]
    ]
    return tuple(sorted(found, key=lambda each: (-each.value, each.layer, each.head, each.metric)))


def _since(held: Sequence[Collection[tuple[int, int, str]]], job: tuple[int, int, str]) -> int:
    frame = len(held) - 1
    while frame and job in held[frame - 1]:
        frame -= 1
    return frame


def nearest_frame(steps: Sequence[int], step: int) -> int:
    """The frame whose step is nearest to another one."""
    return min(range(len(steps)), key=lambda frame: abs(steps[frame] - step))


FILE: Final = "film.npz"
#: The most weights and the most heads of one attention in a film that this page reads.
MOST_WEIGHTS: Final = 8_000_000
MOST_HEADS: Final = 1_024
MAX_FILMS, MAX_VIEWS, MAX_NUMBERS = 4, 8, 24


@dataclass(frozen=True, eq=False)
class OpenFilm:
    """A film that was read and is not too large; `key` names its content."""

    film: Film
    key: str

    @property
    def sites(self) -> tuple[str, ...]:
        """The attentions that it holds, in the order of pages."""
        return tuple(site for site in SITES if site in self.film.sentences[0].weights)

    def shape(self, site: str) -> tuple[int, int]:
        """Layers and heads of an attention."""
        _frames, layers, heads, *_tokens = self.film.sentences[0].weights[site].shape
        return layers, heads


def listed() -> dict[str, Path]:
    """Map each model with a training film next to its weights to that film; "" is the film of the experiments."""
    folders = {"": catalogue.experiments_root(), **catalogue.models()}
    films = {name: folder / FILE for name, folder in folders.items()}
    return {name: path for name, path in films.items() if path.is_file()}


def at(path: Path) -> OpenFilm:
    """The film in a file of a model's folder. Raises a DataError if it is damaged, too large, or a link elsewhere."""
    with read_as_data(path):
        return _at(FileState.of(path))


@cached(max_entries=MAX_FILMS)
def _at(file: FileState) -> OpenFilm:
    path = Path(file.path)
    return read(read_file(path.parent, path.name, LARGEST), path.name)


def read(content: bytes, name: str) -> OpenFilm:
    """The film in bytes called `name`. Raises a DataError if it is none, damaged, or larger than this page reads."""
    film = read_film(BytesIO(content), name)
    shapes = [weights.shape for sentence in film.sentences for weights in sentence.weights.values()]
    weights, heads = sum(map(prod, shapes)), max(layers * heads for _, layers, heads, *_ in shapes)
    if weights > MOST_WEIGHTS or heads > MOST_HEADS:
        message = (
            "{name} contains {weights:,} weights, of up to {heads:,} heads per attention; this page reads at most "
            "{most_weights:,} weights of {most_heads:,} heads. Shorten it: `Film.cut` in `model/training/film.py` "
            "removes frames."
        )
        raise DataError(
            message, name=name, weights=weights, heads=heads, most_weights=MOST_WEIGHTS, most_heads=MOST_HEADS
        )
    return OpenFilm(film, fingerprint(np.frombuffer(content, np.uint8)))


@cached(max_entries=MAX_NUMBERS)
def metrics(opened: OpenFilm, site: str) -> Mapping[str, Float[np.ndarray, "frame layer head"]]:
    """Every metric of every head of an attention at each frame, but for those that no head there has."""
    return {name: of for name, of in film_metrics(opened.film, site).items() if not np.isnan(of).any()}


@cached(max_entries=MAX_NUMBERS)
def jobs(opened: OpenFilm, site: str) -> "tuple[JobsOfHeads, ...]":
    """The jobs of the heads of an attention at each frame."""
    of_site = metrics(opened, site)
    frames = range(len(opened.film.steps))
    return tuple(jobs_of_heads(site, {name: of[frame] for name, of in of_site.items()}, {}) for frame in frames)


@cached(max_entries=MAX_NUMBERS)
def job_threshold(site: str, metric: str) -> float | None:
    """From which number on a metric gives a head of an attention its job; None for a metric that gives none."""
    return next((rule.threshold for rule in rules_at(site) if rule.metric == metric), None)


@cached(max_entries=MAX_NUMBERS)
def arrived(opened: OpenFilm, site: str) -> tuple[Arrival, ...]:
    """What the heads of an attention have become at the end, and when."""
    named = [{(*head, job.metric) for head, of in frame.items() for job in of} for frame in jobs(opened, site)]
    return arrivals(site, metrics(opened, site), named)


@cached(max_entries=MAX_FILMS)
def opens_on(opened: OpenFilm) -> Opening:
    """What of a film is most worth seeing."""
    of_sites = {site: metrics(opened, site) for site in opened.sites}
    found = opening(of_sites)
    parts = [_own_rise(opened, number, found) for number in range(len(opened.film.sentences))]
    return found.in_sentence(int(np.argmax(parts)))


def _own_rise(opened: OpenFilm, number: int, found: Opening) -> float:
    """Return how much the opening head's metric grows in one sentence, from the first frame to the last."""
    if not found.metric:
        return 0.0
    film, whole = opened.film, opened.film.sentences[number]
    ends = whole.weights[found.site][[0, -1], found.layer, found.head][:, None, None]
    sentence = replace(whole, weights={found.site: ends})
    alone = replace(film, steps=(0, 1), losses=(0.0, 0.0), scores={}, sentences=(sentence,))
    before, after = film_metrics(alone, found.site)[found.metric].ravel()
    return float(np.nan_to_num(after - before, nan=-1.0))


@cached(max_entries=MAX_VIEWS)
def view(opened: OpenFilm, number: int, site: str, metric: str) -> FilmView:
    """One attention on one sentence at every frame, ready to be sent, with a metric of its heads or "" for none."""
    film, sentence = opened.film, opened.film.sentences[number]
    rows: tuple[str, ...] = sentence.source_tokens
    if site != ENCODER:
        read_by = sentence.target_tokens
        # What a decoder alone would write last is not recorded.
        last = (row_name(read_by[-1], sentence.source_tokens[-1]) if sentence.source_tokens else read_by[-1],)
        rows = (*map(row_name, read_by, read_by[1:]), *last)
    keys = sentence.target_tokens if site not in (ENCODER, SITES[-1]) else sentence.source_tokens
    return pack_view(film, sentence, site, (rows, keys), jobs(opened, site), metric, metrics(opened, site).get(metric))
