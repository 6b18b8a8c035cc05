"""Two films of one decoder in the browser: over a reference, and over its own words, at the same position."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from viz.components.declare import declare
from viz.components.player.exchange import Command, Exchange, converse, next_command
from viz.core import fingerprint, payload, theme
from viz.core.token_text import display_token
from viz.pages.learn.training.data import ForcedStep, FreeStep, TwoRuns

_FOLDER = "pages/learn/training"
_COMPONENT = declare(f"{_FOLDER}/two_films.js", f"{_FOLDER}/two_films.css")


@dataclass(frozen=True)
class FilmsState:
    """The position at which both films stand, from 0."""

    step: int


def pack_films(runs: TwoRuns, command: Command[FilmsState], name: str) -> bytes:
    """The payload of `two_films.js`."""
    header = {
        "forced": [_shown(step) for step in runs.forced],
        "free": [_shown(step) for step in runs.free],
        "apart": theme.HEAD_COLOURS[1],
        "name": name,
        "digest": fingerprint.digest(runs.key),
        "command": command.packed(),
    }
    return payload.pack(header)


def two_films(runs: TwoRuns, asked: FilmsState, *, key: str, name: str) -> FilmsState | None:
    """Show both films; return where they stand once a person has moved them.

    Args:
        runs: what is shown.
        asked: where the page wants them.
        key: of the component.
        name: of saved pictures, without step and ending.
    """
    digest = fingerprint.digest(runs.key)

    def show(last: Exchange[FilmsState] | None, value: object) -> tuple[Any, Command[FilmsState]]:
        reported = None if last is None else read_state(runs, value, last.command)
        command = next_command(last, asked, reported, digest)
        return _COMPONENT(data=pack_films(runs, command, name), key=key, on_view_change=_nothing), command

    return converse(show, partial(read_state, runs), asked, key=key)


def read_state(runs: TwoRuns, value: object, command: Command[FilmsState]) -> FilmsState | None:
    """What the browser reported, if it has obeyed the command and there is such a position."""
    if not isinstance(value, Mapping) or not command.is_answered_by(value):
        return None
    step = value.get("step")
    return FilmsState(step) if type(step) is int and 0 <= step < max(len(runs.forced), len(runs.free)) else None


def _shown(step: ForcedStep | FreeStep) -> dict[str, object]:
    """A step with its tokens as they are drawn."""
    return {name: display_token(value) if isinstance(value, str) else value for name, value in asdict(step).items()}


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
