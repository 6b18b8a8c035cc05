"""Read the arrays of an .npz file of unknown origin, without pickle; every size is checked before memory is taken."""

import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

Array = npt.NDArray[Any]

#: Times its size on disk that a file may unpack to, and bytes that every file may: zeros shrink to a thousandth.
MOST_RATIO: Final = 16
ALWAYS_ALLOWED: Final = 8 << 20
#: Bytes of the JSON that a file holds beside its arrays.
LARGEST_JSON: Final = 64 << 20


class TooLargeError(ValueError):
    """A file unpacks to more than is allowed, or than a file of its size can honestly hold."""


@contextmanager
def open_arrays(path: Path, largest: int) -> Iterator[Mapping[str, Array]]:
    """The arrays of a file by their names, each read when it is asked for.

    Args:
        path: of the file.
        largest: bytes of unpacked content beyond which it is refused.

    Raises:
        TooLargeError: it unpacks to more.
        Exception: whatever zipfile and NumPy raise at bytes from outside; the file is missing, damaged or no such file.
    """
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        total = sum(entry.file_size for entry in entries)
        most = min(largest, MOST_RATIO * path.stat().st_size + ALWAYS_ALLOWED)
        if total > most:
            raise TooLargeError(f"it unpacks to {total >> 20:,} MiB; at most {most >> 20:,} are read of such a file")
        for entry in entries:
            if entry.filename.endswith(".json.npy") and entry.file_size > LARGEST_JSON:
                raise TooLargeError(f"{entry.filename} has more than {LARGEST_JSON >> 20} MiB")
            with archive.open(entry) as file:
                _check_shape(file, entry.filename, entry.file_size)  # type: ignore[arg-type]
    with np.load(path, allow_pickle=False) as arrays:
        yield arrays


def read_json(arrays: Mapping[str, Array], name: str) -> Any:
    """The JSON that an array of UTF-8 bytes holds.

    Raises:
        ValueError: it is none, or holds half of a surrogate pair, which no browser can be sent.
        KeyError: there is no such array.
    """
    content = json.loads(arrays[name].tobytes().decode())
    json.dumps(content, ensure_ascii=False).encode()
    return content


def reason(error: BaseException) -> str:
    """What an error of reading says, as text that can be shown, shortened."""
    text = str(error).encode("utf-8", errors="replace").decode() or type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]} …"


def _check_shape(file: BinaryIO, name: str, size: int) -> None:
    """The header of an array speaks of exactly as many bytes as follow it."""
    read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError(f"the header of {name} does not fit its content")
