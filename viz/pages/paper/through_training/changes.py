"""Find what changes most in a training: which head, by which metric, and when."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from jaxtyping import Float

from viz.text.sites import CROSS, DECODER

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
    """A head whose metric grows most.

    Attributes:
        metric: "" where nothing is measured, for every row sees one key alone.
        frame: the one before which the metric grew most since the frame before it; 0 if there is one frame alone.
        before, after: the metric at the first and the last frame.
        sentence: in which it is seen best.
    """

    site: str
    layer: int
    head: int
    metric: str
    frame: int
    before: float
    after: float
    sentence: int = 0

    def in_sentence(self, number: int) -> Self:
        """The same, seen in another sentence."""
        return replace(self, sentence=number)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a head has become at the last frame.

    Attributes:
        value: the metric there.
        since: the first frame from which on it stays so.
    """

    layer: int
    head: int
    metric: str
    value: float
    since: int


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
    """What heads have become at the last frame, the highest number first.

    Args:
        site: whose heads these are.
        metrics: of each head at each frame.
        jobs: at each frame, (layer, head, metric) of every job.
    """
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
