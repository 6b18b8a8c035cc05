"""Say above the open head, in a fixed place, what a person points at, or what is chosen, or what is worth seeing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.pictures.component import Component
from viz.selection import state
from viz.ui import finding

if TYPE_CHECKING:
    from model import Trace

_COMPONENT: Final = Component("pages/attention/opened_head/headline.js", "pages/attention/opened_head/headline.css")


@dataclass(frozen=True, slots=True)
class Headline:
    """What is worth seeing: plain words and words that stand out by turns; whether it is a guess."""

    suggestion: Sequence[str]
    is_guess: bool


def show(trace: "Trace") -> None:
    """The headline of the open head; a suggestion as long as a person has chosen nothing else."""
    common = state.current().common
    is_chosen = common.head_chosen or (common.token, common.key_token) != (None, None)
    suggestion = [] if is_chosen else finding.parts(trace)
    _COMPONENT.show(Headline(suggestion, bool(suggestion) and finding.of(trace).is_guess), key="headline")
