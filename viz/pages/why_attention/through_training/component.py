"""The film of a training in the browser: curves, tiles of all heads, one head large, and a metric of each as lines.

One attention on one sentence is sent once, at all frames; stepping and the choice of a head happen in
`training_film.js`, which then reports both, so that a URL can follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from viz.components.declare import declare
from viz.components.player.exchange import Command, Exchange, converse, next_command
from viz.core import payload
from viz.pages.why_attention.through_training.payload import FilmView, words

_FOLDER = "pages/why_attention/through_training"
_COMPONENT = declare(f"{_FOLDER}/training_film.js", f"{_FOLDER}/training_film.css")


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

    def show(last: Exchange[FilmState] | None, value: object) -> tuple[Any, Command[FilmState]]:
        reported = None if last is None else read_state(view, value, last.command)
        command = next_command(last, asked, reported, view.digest)
        own = {"digest": view.digest, "name": name, "finding": finding, "threshold": threshold}
        packed = payload.pack({**view.header, **words(view), **own, "command": command.packed()}, *view.deflated)
        return _COMPONENT(data=packed, key=key, on_view_change=_nothing), command

    return converse(show, partial(read_state, view), asked, key=key)


def read_state(view: FilmView, value: object, command: Command[FilmState]) -> FilmState | None:
    """What the browser reported, if it has obeyed the command and all that it names exists."""
    if not isinstance(value, Mapping) or not command.is_answered_by(value):
        return None
    numbers = [value.get(name) for name in ("step", "layer", "head")]
    ends = (len(view.frames), *view.shape)
    if not all(type(number) is int and 0 <= number < end for number, end in zip(numbers, ends, strict=True)):
        return None
    return FilmState(*numbers)  # type: ignore[arg-type]


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
