"""Read what a GGUF file says of itself, and refuse what its own tensors cannot be, before a library builds anything.

A library makes a Python object of every entry, and a layer for every number in `block_count`: a few bytes of a file ask
for minutes and all memory. Counts and lengths are bounded here by the bytes that follow, and sizes of the model by the
tensors that the file lists (their format: github.com/ggml-org/ggml, docs/gguf.md). It is read under limits, in the
process that converts it.
"""

import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import Any, Final, Literal

from model.adapters.config_limits import LONGEST, MOST_LAYERS
from model.adapters.folder_check import LARGEST_WEIGHTS
from model.folder_files import open_file

#: Tensors and settings of a file; elements of all its lists; bytes of a text. Of real models the largest have 2,000
#: tensors, 100 settings and a million entries of vocabularies.
MOST_TENSORS: Final = 65_536
MOST_SETTINGS: Final = 4_096
MOST_ELEMENTS: Final = 4_000_000
LONGEST_TEXT: Final = 16 << 20
MOST_DIMENSIONS: Final = 4
#: Numbers that a byte of the file may hold: no format packs more than eight.
FOR_A_BYTE: Final = 8
_TEXT, _LIST = 8, 9
#: Number of a type → how `struct` reads it.
_SCALARS: Final[Mapping[int, str]] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_BLOCK: Final = re.compile(r"(?:^|\.)blk\.(\d+)\.")
#: How settings begin that are not the model's.
_OF_NO_MODEL: Final = ("general.", "tokenizer.", "split.", "quantize.", "imatrix.")
#: Settings that are of a text's length and not of a tensor's.
_OF_LENGTH: Final = ("context_length", "window", "chunk_size")


@dataclass(frozen=True)
class GgufHeader:
    """What stands before the numbers of a GGUF file."""

    settings: Mapping[str, Any]  #: name → a number, a text, or of a list how many elements it has
    tensors: Mapping[str, tuple[int, ...]]  #: name → dimensions

    @property
    def numbers(self) -> int:
        """Numbers of all tensors."""
        return sum(map(prod, self.tensors.values()))

    @property
    def blocks(self) -> int:
        """Layers of which there are tensors: of the stack that has most."""
        found = [int(match[1]) for name in self.tensors if (match := _BLOCK.search(name))]
        return len({*found})


def read_header(file: Path) -> GgufHeader:
    """The header of a GGUF file. Raises a ValueError if it is damaged or asks for too much, or as `open_file`."""
    with open_file(file.parent, file.name, LARGEST_WEIGHTS) as opened:
        return _Reading(opened, os.fstat(opened.fileno()).st_size).header()


def check_header(header: GgufHeader) -> None:
    """Raise a ValueError if the settings ask for more than the tensors are.

    Whatever the architecture is called, the library takes the settings of every one.
    """
    largest = max((size for shape in header.tensors.values() for size in shape), default=0)
    for name, value in header.settings.items():
        if name.startswith(_OF_NO_MODEL) or type(value) is not int:
            continue
        most = largest
        if name.endswith("block_count"):
            most = min(header.blocks, MOST_LAYERS)
        elif any(part in name for part in _OF_LENGTH):
            most = LONGEST
        if not -1 <= value <= most:
            raise ValueError(f"it says {name[:60]} = {value:,}; by its tensors, at most {most:,} can be read")


class _Reading:
    """A header that is read from its beginning, each count compared with the bytes that are left."""

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file, self._size = file, size
        self._order: Literal["<", ">"] = "<"
        self._elements = 0

    def header(self) -> GgufHeader:
        self._take(4)
        version = self._number("I")
        if not version & 0xFFFF:
            self._order = ">"
            version = struct.unpack(">I", struct.pack("<I", version))[0]
        if version not in (2, 3):
            raise ValueError(f"it has version {version} of the format, and 2 and 3 can be read")
        tensors = self._count(self._number("Q"), MOST_TENSORS, 24)
        settings = self._count(self._number("Q"), MOST_SETTINGS, 13)
        read = {}
        for _ in range(settings):
            name = self._text()
            read[name] = self._value(self._number("I"))
        shapes = dict(self._tensor() for _ in range(tensors))
        header = GgufHeader(read, shapes)
        if header.numbers > FOR_A_BYTE * self._size:
            raise ValueError(f"its tensors have {header.numbers:,} numbers, more than its bytes hold")
        return header

    def _tensor(self) -> tuple[str, tuple[int, ...]]:
        name = self._text()
        dimensions = self._count(self._number("I"), MOST_DIMENSIONS, 8)
        shape = tuple(self._number("Q") for _ in range(dimensions))
        self._take(12)
        return name, shape

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind != _LIST:
            raise ValueError(f"it has a value of the unknown type {kind}")
        element = self._number("I")
        length = self._number("Q")
        if element in _SCALARS:
            size = struct.calcsize(_SCALARS[element])
            self._skip(size * self._count(length, MOST_ELEMENTS - self._elements, size))
        elif element == _TEXT:
            for _ in range(self._count(length, MOST_ELEMENTS - self._elements, 8)):
                self._skip(self._count(self._number("Q"), LONGEST_TEXT, 1))
        else:
            raise ValueError(f"it has a list of elements of the unknown type {element}")
        self._elements += length
        return length

    def _text(self) -> str:
        return self._take(self._count(self._number("Q"), LONGEST_TEXT, 1)).decode("utf-8", errors="replace")

    def _number(self, kind: str) -> Any:
        form = self._order + kind
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _count(self, count: int, most: int, size: int) -> int:
        """A count of things that have at least so many bytes each."""
        if count > most or count * size > self._size - self._file.tell():
            most = min(most, max(0, self._size - self._file.tell()) // size)
            raise ValueError(f"it says that {count:,} entries follow, and at most {most:,} can be read")
        return count

    def _take(self, size: int) -> bytes:
        taken = self._file.read(size)
        if len(taken) < size:
            raise ValueError("it ends before its tensors")
        return taken

    def _skip(self, size: int) -> None:
        self._file.seek(size, 1)
