"""Show a text and its translation as words, of which a person clicks two: one that looks, one looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from viz.components.declare import declare
from viz.core import chat_roles, fingerprint, payload, theme
from viz.core.token_text import display_word
from viz.core.widget_values import sent
from viz.pages.attention.all_heads.link_question import Chosen

_COMPONENT = declare(
    "pages/attention/all_heads/word_picker.js",
    "pages/attention/all_heads/word_picker.css",
)


@dataclass(frozen=True, slots=True)
class WordLine:
    """A text as words.

    Attributes:
        mark: what it is.
        language: its language; "" if nobody knows.
        words: as shown; they are counted through all lines.
        pieces: of each word that is marked as rare, how many it is broken into; 0 for others.
        roles: runs of words that are of one role of a chat: role, first word, end.
    """

    mark: str
    language: str
    words: tuple[str, ...]
    pieces: tuple[int, ...]
    roles: tuple[chat_roles.Run, ...] = ()


def pack_words(lines: Sequence[WordLine], chosen: Chosen) -> bytes:
    """The payload of `word_picker.js`: the lines, and the words that are marked as chosen."""
    shown = [
        asdict(line)
        | {
            "words": list(map(display_word, line.words)),
            "roles": chat_roles.packed(line.roles),
        }
        for line in lines
    ]
    header = {
        "lines": shown,
        "chosen": chosen,
        "keptColour": theme.HEAD_COLOURS[1],
        "digest": fingerprint.digest(repr(shown)),
    }
    return payload.pack(header)


def read_pair(value: object, lines: Sequence[WordLine]) -> tuple[int, int] | None:
    """The two words that the browser says were clicked, if they exist."""
    if not isinstance(value, Mapping):
        return None
    count = sum(len(line.words) for line in lines)
    looking, looked_at = value.get("looking"), value.get("lookedAt")
    if type(looking) is not int or type(looked_at) is not int or not (0 <= looking < count and 0 <= looked_at < count):
        return None
    return looking, looked_at


def word_picker(lines: Sequence[WordLine], chosen: Chosen, *, on_pick: Callable[[int, int], None], key: str) -> None:
    """Show the words; arguments as of `pack_words`.

    Args:
        on_pick: called before the next run, with the words that a person has clicked.
        key: of the component.
    """

    def take() -> None:
        pair = read_pair(sent(key, "pair"), lines)
        if pair is not None:
            on_pick(*pair)

    _COMPONENT(data=pack_words(lines, chosen), key=key, on_pair_change=take)
