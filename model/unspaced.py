"""Find the words of Chinese and Japanese, which are written without spaces.

Chinese is cut by the dictionary of jieba (without its guesses of unknown words, which join what need not be one);
Japanese by BudouX, which finds phrases: a noun with its particle, a verb with its endings. Punctuation stays with the
word before it, an opening bracket with the word after it.

Tokens of single bytes write the characters that a vocabulary lacks; they are spelled here too. SentencePiece calls them
"<0x00>" to "<0xFF>" (byte fallback). A byte below 0x80 is a whole character of UTF-8 and is spelled as that character,
"("; of a longer character each byte keeps its number, "<0xF0>".
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final
from unicodedata import category

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


if TYPE_CHECKING:
    import budoux

_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA: Final = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
#: A run of characters that are written without spaces.
_UNSPACED: Final = re.compile(f"[{_HAN}{_KANA}]+")
_JAPANESE: Final = re.compile(f"[{_KANA}]")
#: Runs that are remembered: a page asks for the same text again and again.
_REMEMBERED: Final = 512


def has_unspaced(text: str) -> bool:
    """Whether a text holds Chinese or Japanese."""
    return _UNSPACED.search(text) is not None


def word_starts(text: str) -> frozenset[int]:
    """The characters of a text without white space at which a word begins, 0 among them."""
    if not has_unspaced(text):
        return frozenset((0,)) if text else frozenset()
    starts = {0}
    # Whether Han are Chinese or Japanese is told by kana anywhere near.
    cut = _japanese if _JAPANESE.search(text) else _chinese
    runs = list(_UNSPACED.finditer(text))
    for run, next_start in zip(runs, [*(after.start() for after in runs[1:]), len(text)], strict=True):
        before = text[run.start() - 1 : run.start()]
        starts |= {run.start() + at for at in cut(run[0]) if at or not _opens(before)}
        # Of what stands before the next run, letters, digits and an opening bracket begin a word.
        gap = text[run.end() : next_start]
        starts |= {next((run.end() + at for at, sign in enumerate(gap) if sign.isalnum() or _opens(sign)), 0)}
    return frozenset(starts)


def begins_word(pieces: Sequence[str]) -> list[bool]:
    """For each piece of a run without white space, whether a new word begins with it; the first always does.

    `pieces`: tokens without the sign of a space; bytes may be spelled "<0xE4>", several of them for one character.
    """
    contents = [bytes_of(piece) for piece in pieces]
    text = b"".join(contents).decode("utf-8", errors="surrogateescape")
    if not has_unspaced(text):
        return [number == 0 for number in range(len(pieces))]
    # The byte at which each character begins.
    at_byte = [0, *accumulate(len(sign.encode("utf-8", errors="surrogateescape")) for sign in text)]
    starts = {at_byte[start] for start in word_starts(text)}
    offsets = [0, *accumulate(map(len, contents))]
    return [
        number == 0 or (bool(content) and offsets[number] > 0 and offsets[number] in starts)
        for number, content in enumerate(contents)
    ]


def _opens(sign: str) -> bool:
    return bool(sign) and category(sign) in ("Ps", "Pi")


@lru_cache(maxsize=_REMEMBERED)
def _chinese(run: str) -> tuple[int, ...]:
    import rjieba

    words: list[str] = rjieba.cut(run, hmm=False)
    return tuple(accumulate(map(len, words[:-1]), initial=0))


@lru_cache(maxsize=_REMEMBERED)
def _japanese(run: str) -> tuple[int, ...]:
    phrases: list[str] = _japanese_parser().parse(run)
    return tuple(accumulate(map(len, phrases[:-1]), initial=0))


@lru_cache(maxsize=1)
def _japanese_parser() -> "budoux.Parser":
    import budoux

    return budoux.load_default_japanese_parser()
