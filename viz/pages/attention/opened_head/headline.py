"""Say above the open head, in a fixed place, what a person points at, or what is chosen, or what is worth seeing."""

from typing import TYPE_CHECKING

from viz.components.declare import declare
from viz.core import payload
from viz.selection import state
from viz.ui import finding

if TYPE_CHECKING:
    from model import Trace

_COMPONENT = declare(
    "pages/attention/opened_head/headline.js",
    "pages/attention/opened_head/headline.css",
)


def show(trace: "Trace") -> None:
    """The headline of the open head; a suggestion as long as a person has chosen nothing else."""
    common = state.current().common
    is_chosen = common.head_chosen or (common.token, common.key_token) != (None, None)
    suggestion = [] if is_chosen else finding.parts(trace)
    header = {"suggestion": suggestion, "isGuess": bool(suggestion) and finding.of(trace).is_guess}
    _COMPONENT(data=payload.pack(header), key="headline")
