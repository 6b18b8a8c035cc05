"""The translation that the decoding page shows, and the other ones that a person made of it.

A branch is a choice (what was done at which step of which branch), and all choices together are a value in the URL
(`Selection.branches`): whoever opens the link sees the same tree. Branch 0 is the model's own translation. Knows
nothing of widgets or figures.
"""

from typing import TYPE_CHECKING

from viz import frame, state

if TYPE_CHECKING:
    from model import Trace


def shown() -> "Trace":
    """The trace of the branch that is shown."""
    return frame.read_sentence(state.current().text)


def force(step: int, token_id: int) -> None:
    """Write another token at a step of the branch that is shown, decode on, and show that as a branch of its own."""
    raise NotImplementedError


def draw(step: int, temperature: int, top_k: int, top_p: int) -> None:
    """Draw the tokens from a step on, and show that as a branch; numbers as in `Selection`."""
    raise NotImplementedError
