"""Show a token so that every character is visible and none reorders the text around it."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

#: Letters and symbols by their Unicode category, but without any ink (fillers, blank pattern, joiner).
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Control, format (bidi marks, zero-width), surrogate, private, unassigned; line, paragraph and exotic spaces.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def _display_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if character == " ":
        return "\u2423"
    if unicodedata.category(character) in _UNSEEN or character in _BLANK:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


#: Between what a row of a decoder reads and what it writes (`model.trace.axes.row_name`).
_WRITES: Final = " → "


# A page shows the same tokens again and again.
@lru_cache(maxsize=8_192)
def display_token(token: str) -> str:
    """A token as it can be shown: every character visible, and none that reorders the text around it.

    SentencePiece's "▁" stays. Control characters become their control pictures (␀ ␉ ␊), a plain space ␣; invisible and
    bidirectional controls, private and unassigned characters become `\\u` escapes. A combining mark that begins a token
    gets a dotted circle to stand on, a variation selector there is escaped. The empty token is shown as ∅. Of a row's
    name, "weil → es", the two tokens are shown so.
    """
    if not token:
        return "∅"
    read, arrow, written = token.partition(_WRITES)
    if read and written:
        return f"{display_token(read)}{arrow}{display_token(written)}"
    first = token[0]
    if "\ufe00" <= first <= "\ufe0f":
        return f"\\u{ord(first):04x}" + "".join(map(_display_character, token[1:]))
    shown = "".join(map(_display_character, token))
    return f"◌{shown}" if unicodedata.category(first).startswith("M") and shown.startswith(first) else shown


def spoken(token: str) -> str:
    """A token as a sentence names it, without the sign of the space before it."""
    shown = display_token(token)
    return shown.lstrip("▁Ġ") or shown


def display_word(word: str) -> str:
    """A word of a sentence as typed, control characters as pictures; as a token where nothing of it would be seen."""
    if all(unicodedata.category(character) in _UNSEEN or character in _BLANK for character in word):
        return display_token(word)
    # Half of a surrogate pair cannot be sent to a browser.
    return "".join(_display_character(c) if unicodedata.category(c) in ("Cc", "Cs") else c for c in word)


def display_tokens(tokens: Sequence[str]) -> list[str]:
    """`display_token` of each."""
    return [*map(display_token, tokens)]
