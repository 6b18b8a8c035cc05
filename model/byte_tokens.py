"""Spell the tokens of single bytes, by which a vocabulary writes the characters that it lacks.

SentencePiece calls them "<0x00>" to "<0xFF>" (byte fallback). A byte below 0x80 is a whole character of UTF-8 and is
spelled as that character, "("; of a longer character each byte keeps its number, "<0xF0>".
"""

import re
from typing import Final

#: Spaces, tabs and ends of lines, as tokens show them.
BLANKS: Final = str.maketrans({" ": "▁", "\n": "⏎", "\t": "⇥", "\r": "␍"})
_SHOWN: Final = {"⏎": "\n", "⇥": "\t", "␍": "\r"}
_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_CHARACTERS: Final = 0x80


def spelled_byte(piece: str) -> str:
    """The token of a single byte, "<0x28>", as it is shown: "(", "⏎" for the end of a line; others stay as they are."""
    character = chr(int(piece[3:5], 16))
    if character in "\n\t\r":
        return character.translate(BLANKS)
    return character if character.isascii() and character.isprintable() and character != " " else piece


def byte_piece(character: str) -> str:
    """What SentencePiece calls the byte shown as this character, "(" → "<0x28>"; any other text stays as it is."""
    character = _SHOWN.get(character, character)
    return f"<0x{ord(character):02X}>" if len(character) == 1 and ord(character) < _CHARACTERS else character


def bytes_of(piece: str) -> bytes:
    """The UTF-8 of a token as it is shown, in which bytes may have their numbers, "<0xE6><0x88>"."""
    parts = _BYTE.split(piece)
    return b"".join(
        bytes.fromhex(part) if number % 2 else part.encode("utf-8", errors="replace")
        for number, part in enumerate(parts)
    )
