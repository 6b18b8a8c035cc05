"""Show a text and its translation as words, of which a person chooses one that looks, and one looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from viz.components.declare import declare
from viz.core import chat_roles, fingerprint, payload, theme
from viz.core.focus import FocusAxis
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
        axis: the tokens of each word.
        roles: runs of words that are of one role of a chat: role, first word, end.
    """

    mark: str
    language: str
    words: tuple[str, ...]
    pieces: tuple[int, ...]
    axis: FocusAxis
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


def read_chosen(value: object, lines: Sequence[WordLine]) -> Chosen | None:
    """The words that the browser says are chosen, if they exist: none, the one that looks, or both."""
    if not isinstance(value, Mapping) or not {"looking", "lookedAt"} <= value.keys():
        return None
    count = sum(len(line.words) for line in lines)
    looking, looked_at = value["looking"], value["lookedAt"]
    if not all(word is None or (type(word) is int and 0 <= word < count) for word in (looking, looked_at)):
        return None
    return None if looking is None and looked_at is not None else (looking, looked_at)


def word_picker(lines: Sequence[WordLine], chosen: Chosen, *, on_choose: Callable[[Chosen], None], key: str) -> None:
    """Show the words; arguments as of `pack_words`.

    Args:
        on_choose: called before the next run, with the words that a person has chosen.
        key: of the component.
    """

    def take() -> None:
        words = read_chosen(sent(key, "chosen"), lines)
        if words is not None:
            on_choose(words)

    _COMPONENT(data=pack_words(lines, chosen), key=key, on_chosen_change=take)
