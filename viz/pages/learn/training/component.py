"""Two films of one decoder in the browser: over a reference, and over its own words, at the same position."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Final

from viz import theme
from viz.pages.learn.training.data import ForcedStep, FreeStep, TwoRuns
from viz.pictures.component import Component
from viz.pictures.payload import fingerprint, read
from viz.pictures.player.exchange import play
from viz.text.token_text import display_token

_FOLDER: Final = "pages/learn/training"
_COMPONENT: Final = Component(f"{_FOLDER}/two_films.js", f"{_FOLDER}/two_films.css")


@dataclass(frozen=True)
class FilmsState:
    """The position at which both films stand, from 0."""

    step: int


def _shown(step: ForcedStep | FreeStep) -> dict[str, object]:
    """A step with its tokens as they are drawn."""
    return {name: display_token(value) if isinstance(value, str) else value for name, value in asdict(step).items()}


@dataclass(frozen=True, slots=True)
class TwoFilms:
    """The steps of both films; `name` is that of saved pictures, without step and ending."""

    forced: Sequence[Annotated[ForcedStep, _shown]]
    free: Sequence[Annotated[FreeStep, _shown]]
    name: str
    apart: str = theme.HEAD_COLOURS[1]


def two_films(runs: TwoRuns, asked: FilmsState, *, key: str, name: str) -> FilmsState | None:
    """Show both films, where the page wants them; return where they stand once a person has moved them."""
    steps = range(max(len(runs.forced), len(runs.free)))
    return play(
        _COMPONENT,
        TwoFilms(runs.forced, runs.free, name),
        asked=asked,
        read=partial(read, FilmsState, step=steps),
        digest=fingerprint(runs.key),
        key=key,
    )
