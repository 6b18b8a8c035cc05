"""Refuse a SentencePiece model whose normalizer makes very much of a single character.

The format: sentencepiece_model.proto and normalizer.cc of SentencePiece. A model's `normalizer_spec` (field 3) and
`denormalizer_spec` (field 5) hold a `precompiled_charsmap` (field 2): the length of a trie in four bytes, the trie, and
the replacements, each ended by a zero.
"""

from collections.abc import Iterator
from typing import Final

from model.checked import Malformed

#: Characters that may replace a few others. Unicode's longest compatibility decomposition, that of U+FDFA, has 18.
LONGEST_REPLACEMENT: Final = 64
_SPECS: Final = (3, 5)
_CHARSMAP: Final = 2


def check_normalizer(serialized: bytes) -> None:
    """Make sure that no replacement of a SentencePiece model's normalizer is long; whether it is one, others find out.

    Raises:
        Malformed: one is.
    """
    for number, spec in _fields(serialized):
        if number in _SPECS:
            for inner, charsmap in _fields(spec):
                if inner == _CHARSMAP:
                    check_charsmap(charsmap)


def check_charsmap(charsmap: bytes) -> None:
    """Make sure that no replacement of a `precompiled_charsmap` is long.

    Raises:
        Malformed: one is.
    """
    replacements = charsmap[4 + int.from_bytes(charsmap[:4], "little") :].split(b"\0")
    longest = max(len(one.decode("utf-8", errors="replace")) for one in replacements)
    if longest > LONGEST_REPLACEMENT:
        raise Malformed(
            "its normalizer turns one character into {longest:,}; at most {most} can be read",
            longest=longest,
            most=LONGEST_REPLACEMENT,
        )


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and content of every field of bytes in a protocol buffer, those within groups too, up to damage."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        match tag & 7:
            case 0:
                _, position = _varint(message, position)
            case 1:
                position += 8
            case 2:
                length, position = _varint(message, position)
                yield tag >> 3, message[position : position + length]
                position += length
            case 5:
                position += 4
            case 6 | 7:
                return


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next field begins."""
    value = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            break
    return value, position
