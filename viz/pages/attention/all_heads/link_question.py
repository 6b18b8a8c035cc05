"""Ask which heads link two words, and mark these in the head of the page, where `word_picker` shows all words."""

from typing import Final

from viz.components.declare import declare
from viz.core import payload, theme, token_text

_COMPONENT = declare(
    "pages/attention/all_heads/link_question.js",
    "pages/attention/all_heads/link_question.css",
)
#: A word that looks and the one that is looked at, as `word_picker` counts them; None for what is no word.
Chosen = tuple[int | None, int | None]
NOTHING: Final[Chosen] = (None, None)


def link_question(chosen: Chosen, asked: tuple[str, str] | None, how: str, *, key: str) -> None:
    """Show the question.

    Args:
        chosen: both words.
        asked: what both are called in the question; None where nothing is chosen.
        how: what a person can click.
        key: of the component.
    """
    header = {
        "chosen": chosen,
        "asked": None if asked is None else token_text.display_tokens(asked),
        "how": how,
        "keptColour": theme.HEAD_COLOURS[1],
    }
    _COMPONENT(data=payload.pack(header), key=key)
