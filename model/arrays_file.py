"""Read the arrays of an .npz file of unknown origin, without pickle; every size is checked before memory is taken."""

import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from model.errors import DataError, Message, said

Array = npt.NDArray[Any]

#: Times its size on disk that a file may unpack to, and bytes that every file may: zeros shrink to a thousandth.
MOST_RATIO: Final = 16
ALWAYS_ALLOWED: Final = 8 << 20
#: Bytes of the JSON that a file holds beside its arrays.
LARGEST_JSON: Final = 64 << 20
#: Bytes of the list of its arrays, with about a hundred for each; in memory it takes ten times as many.
LARGEST_DIRECTORY: Final = 1 << 20
#: What NumPy packs arrays with. Of other methods zipfile does not bound what a few bytes become.
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Characters of a reason that are shown.
_LONGEST: Final = 200
#: The end of a zip file without a comment: its first bytes, where the size of the directory stands, and its length.
_END, _SIZE, _END_LENGTH = b"PK\x05\x06", slice(12, 16), 22
#: What stands before it where there is another directory, of the kind for larger files.
_LOCATOR: Final = b"PK\x06\x07".ljust(20)


class TooLargeError(ValueError):
    """A file, or what it unpacks to, is larger than is allowed, or than a file of its size can honestly hold."""


@contextmanager
def open_arrays(file: BinaryIO, largest: int) -> Iterator[Mapping[str, Array]]:
    """The arrays of an open file by their names, each read when it is asked for.

    Args:
        file: opened for reading bytes; from a model's folder, by `folder_files.open_file`.
        largest: bytes of the file, and of its unpacked content, beyond which it is refused.

    Raises:
        TooLargeError: it has, or unpacks to, more.
        Exception: whatever zipfile and NumPy raise at bytes from outside; the file is damaged or no such file.
    """
    size = file.seek(0, os.SEEK_END)
    if size > largest:
        raise TooLargeError(said("it has {size:,} bytes; at most {largest:,} are read", size=size, largest=largest))
    _check_directory(file, size)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        total = sum(entry.file_size for entry in entries)
        most = min(largest, MOST_RATIO * size + ALWAYS_ALLOWED)
        if total > most:
            message = "it unpacks to {total:,} MiB; at most {most:,} are allowed for such a file"
            raise TooLargeError(said(message, total=total >> 20, most=most >> 20))
        for entry in entries:
            name = entry.filename[:80]
            if entry.compress_type not in _METHODS:
                raise ValueError(said("{name} is packed otherwise than NumPy does it", name=name))
            if entry.filename.endswith(".json.npy") and entry.file_size > LARGEST_JSON:
                raise TooLargeError(said("{name} has more than {most} MiB", name=name, most=LARGEST_JSON >> 20))
            with archive.open(entry) as packed:
                _check_shape(packed, name, entry.file_size)  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        yield arrays


@contextmanager
def said_of_file(name: str, message: Message) -> Iterator[None]:
    """Any error in the block, which reads the file of this name, is a DataError: a sentence.

    `message`: what is said where it is damaged, or no such file, with `{name}` and `{reason}`.
    """
    try:
        yield
    except DataError:
        raise
    except TooLargeError as error:
        raise DataError("{name} cannot be used: {error}.", name=name, error=reason(error)) from error
    except Exception as error:  # Whatever NumPy and our own reading think of bytes from outside.
        raise DataError(message, name=name, reason=reason(error)) from error


def checked_array(array: Array, dtype: type[np.generic], shape: Sequence[int | None]) -> Array:
    """The array, which cannot be written to, of this type and shape (None: any length but 0), or a ValueError."""
    fits = len(array.shape) == len(shape) and all(
        size == asked or (asked is None and size > 0) for size, asked in zip(array.shape, shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        expected, found = f"{dtype.__name__} {list(shape)}", f"{array.dtype} {list(array.shape)}"
        raise ValueError(said("expected {expected}, got {found}", expected=expected, found=found))
    array.setflags(write=False)
    return array


def read_json(arrays: Mapping[str, Array], name: str) -> Any:
    """The JSON that an array of UTF-8 bytes holds.

    Raises:
        ValueError: it is none, or holds half of a surrogate pair, which no browser can be sent.
        KeyError: there is no such array.
    """
    try:
        content = json.loads(arrays[name].tobytes().decode())
        json.dumps(content, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError(said("its {name} is not valid JSON", name=name)) from error
    return content


def reason(error: BaseException) -> str:
    """Why a file could not be read, as a part of a sentence: what our own checks say, else what kind of fault it is."""
    match error:
        case ValueError(args=(Message() as message,)) if len(message) <= _LONGEST:
            return message
        case zipfile.BadZipFile():
            return said("it is not an .npz file, or is incomplete")
        case KeyError(args=(str(name),)):
            return said("it lacks {name}", name=_cut(name.removesuffix(" is not a file in the archive")))
        case OSError(strerror=str(strerror)):
            return _cut(strerror)
        case ValueError() if not isinstance(error, UnicodeError) and str(error):
            return _cut(str(error))
        case _:
            return said("what it holds is not as Headlight writes it")


def _cut(text: str) -> str:
    text = text.encode("utf-8", errors="replace").decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _check_directory(file: BinaryIO, size: int) -> None:
    """The list of arrays, which zipfile reads whole, is no larger than one that NumPy writes."""
    file.seek(max(0, size - len(_LOCATOR) - _END_LENGTH))
    tail = file.read()
    end = tail[-_END_LENGTH:]
    # NumPy writes no comment behind it, and no second directory for files beyond 2 GiB.
    if not end.startswith(_END) or tail.startswith(_LOCATOR[:4]):
        raise zipfile.BadZipFile
    if int.from_bytes(end[_SIZE], "little") > LARGEST_DIRECTORY:
        raise TooLargeError(said("the list of its arrays has more than {most} MiB", most=LARGEST_DIRECTORY >> 20))


def _check_shape(file: BinaryIO, name: str, size: int) -> None:
    """The header of an array speaks of exactly as many bytes as follow it."""
    try:
        read = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        is_whole = not dtype.hasobject and math.prod(shape) * dtype.itemsize == size - file.tell()
    except Exception as error:  # NumPy parses the header as Python, with errors of every kind.
        raise ValueError(said("the header of {name} cannot be read", name=name)) from error
    if not is_whole:
        raise ValueError(said("the header of {name} does not fit its content", name=name))
