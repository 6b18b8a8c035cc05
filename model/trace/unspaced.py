"""Find where words may be parted in Chinese and Japanese, which are written without spaces.

A Chinese character is a word of its own, and so is a run of hiragana or katakana: coarser than a dictionary would part
them, but never across a character, and the same for every tokenizer.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal
from unicodedata import category

Script = Literal["han", "hiragana", "katakana", "other"]

_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_RANGES: Final[tuple[tuple[int, int, Script], ...]] = (
    (0x3005, 0x3007, "han"),
    (0x3400, 0x4DBF, "han"),
    (0x4E00, 0x9FFF, "han"),
    (0xF900, 0xFAFF, "han"),
    (0x20000, 0x3FFFF, "han"),
    (0x3041, 0x309F, "hiragana"),
    (0x30A1, 0x30FA, "katakana"),
    (0x30FC, 0x30FF, "katakana"),
    (0x31F0, 0x31FF, "katakana"),
    (0xFF66, 0xFF9F, "katakana"),
)


def script_of(character: str) -> Script:
    """The script of a character, as far as it is one without spaces."""
    code = ord(character)
    return next((script for first, last, script in _RANGES if first <= code <= last), "other")


def begins_word(pieces: Sequence[str]) -> list[bool]:
    """For each piece of a run without white space, whether a new word begins with it; the first always does.

    Args:
        pieces: tokens without the sign of a space; bytes may be spelled "<0xE4>", several of them for one character.
    """
    contents = [_bytes(piece) for piece in pieces]
    text = b"".join(contents)
    begins, offset = [], 0
    for number, content in enumerate(contents):
        is_whole = not content or content[0] & 0xC0 != 0x80
        begins.append(
            number == 0 or (is_whole and _parted(text[max(0, offset - 4) : offset], text[offset : offset + 4]))
        )
        offset += len(content)
    return begins


def _parted(before: bytes, after: bytes) -> bool:
    """Whether a word ends between these bytes, the last and the next of a text; no character has more than four."""
    if not before or not after:
        return False
    last, first = before.decode("utf-8", errors="replace")[-1], after.decode("utf-8", errors="replace")[0]
    left, right = script_of(last), script_of(first)
    if right == "other":
        # Punctuation stays with the word before it, as elsewhere.
        return left != "other" and first.isalnum()
    is_opening = category(last) in ("Ps", "Pi")
    return not is_opening and (right == "han" or left != right)


def _bytes(piece: str) -> bytes:
    parts = _BYTE.split(piece)
    return b"".join(
        bytes.fromhex(part) if number % 2 else part.encode("utf-8", errors="replace")
        for number, part in enumerate(parts)
    )
