"""Show the words of a text and of its translation, of which a person clicks two: one that looks, one looked at."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from viz.components.declare import declare
from viz.core import fingerprint, payload, theme, token_text
from viz.core.widget_values import sent

_COMPONENT = declare(
    "pages/attention/all_heads/word_picker.js",
    "pages/attention/all_heads/word_picker.css",
)
#: Of a text with more words a cell of the open head is kept instead.
MAX_WORDS: Final = 1_000


def pack_words(
    lines: Sequence[tuple[str, Sequence[str]]],
    chosen: tuple[int | None, int | None],
    asked: tuple[str, str] | None,
) -> bytes:
    """The payload of `word_picker.js`.

    Args:
        lines: what each line is, and its words; they are counted through.
        chosen: the word that looks and the one that is looked at.
        asked: what both are called in the question; None where nothing is chosen.
    """
    shown = [(mark, token_text.display_tokens(words)) for mark, words in lines]
    header = {
        "lines": shown,
        "chosen": chosen,
        "asked": None if asked is None else token_text.display_tokens(asked),
        "keptColour": theme.HEAD_COLOURS[1],
        "digest": fingerprint.digest(repr(shown)),
    }
    return payload.pack(header)


def read_pair(value: object, lines: Sequence[tuple[str, Sequence[str]]]) -> tuple[int, int] | None:
    """The two words that the browser says were clicked, if they exist."""
    if not isinstance(value, Mapping):
        return None
    count = sum(len(words) for _, words in lines)
    looking, looked_at = value.get("looking"), value.get("lookedAt")
    if type(looking) is not int or type(looked_at) is not int or not (0 <= looking < count and 0 <= looked_at < count):
        return None
    return looking, looked_at


def word_picker(
    lines: Sequence[tuple[str, Sequence[str]]],
    chosen: tuple[int | None, int | None],
    asked: tuple[str, str] | None,
    *,
    on_pick: Callable[[int, int], None],
    key: str,
) -> None:
    """Show the words; arguments as of `pack_words`.

    Args:
        on_pick: called before the next run, with the words that a person has clicked.
        key: of the component.
    """

    def take() -> None:
        pair = read_pair(sent(key, "pair"), lines)
        if pair is not None:
            on_pick(*pair)

    _COMPONENT(data=pack_words(lines, chosen, asked), key=key, on_pair_change=take)
