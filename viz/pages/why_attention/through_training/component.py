"""The film of a training in the browser: curves, tiles of all heads, one head large, and a metric of each as lines.

One attention on one sentence is sent once, at all frames; stepping and the choice of a head happen in
`training_film.js`, which then reports both, so that a URL can follow.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from viz.pages.why_attention.through_training.payload import FilmView
from viz.pictures.component import Component
from viz.pictures.payload import read
from viz.pictures.player.exchange import play

_FOLDER: Final = "pages/why_attention/through_training"
_COMPONENT: Final = Component(f"{_FOLDER}/training_film.js", f"{_FOLDER}/training_film.css")


@dataclass(frozen=True)
class FilmState:
    """Which of the frames that were sent is shown (`step`), and the open head; all count from 0."""

    step: int
    layer: int = 0
    head: int = 0


def training_film(
    view: FilmView, asked: FilmState, *, key: str, name: str, finding: str, threshold: float | None
) -> FilmState | None:
    """Show a film; return where it stands once a person has moved it.

    Args:
        view: what is shown.
        asked: where the page wants it, all of which exists.
        key: of the component.
        name: of saved pictures, without step and ending.
        finding: a sentence above the film.
        threshold: of the metric, from which on it gives a head a job; None if it gives none.
    """

    own = {"name": name, "finding": finding, "threshold": threshold}
    return play(_COMPONENT, view, asked=asked, read=partial(read_state, view), digest=view.digest, key=key, more=own)


def read_state(view: FilmView, value: object) -> FilmState | None:
    """What the browser reported, if all that it names exists."""
    steps, layers, heads = map(range, (len(view.frames), view.layers, view.heads))
    return read(FilmState, value, step=steps, layer=layers, head=heads)
