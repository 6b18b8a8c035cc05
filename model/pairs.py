"""Read sentence pairs, one `source TAB target` a line, from TSV files or text."""

import bz2
import gzip
import lzma
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from model.errors import DataError

#: Bytes of a line; the longest text that any model reads has far fewer.
LONGEST_LINE: Final = 1 << 20
#: Times its packed size that a file may unpack to, and bytes that every file may. Text shrinks to a fifth, the same
#: sentence over and over to a thousandth.
MOST_RATIO: Final = 100
ALWAYS_ALLOWED: Final = 64 << 20
OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
_DAMAGED: tuple[type[Exception], ...] = (gzip.BadGzipFile, EOFError, lzma.LZMAError, zlib.error)
if sys.version_info >= (3, 14):
    from compression import zstd

    OPENERS[".zst"] = zstd.open
    _DAMAGED = (*_DAMAGED, zstd.ZstdError)


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


def data_set_name(path: Path) -> str:
    """A file's name without its endings: `tatoeba_dev` for `tatoeba_dev.tsv.xz`."""
    return path.name.partition(".")[0]


def read_pairs(path: str | Path, limit: int | None = None) -> list[Pair]:
    """Read a TSV file (plain, `.xz`, `.gz` or `.bz2`), UTF-8. Raises as `read_lines` and `parse_pairs`."""
    return parse_pairs(read_lines(Path(path)), str(path), limit)


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file (plain, or packed as one of `OPENERS`), UTF-8, without their ends.

    Raises a DataError if there is no such file, it cannot be read, is damaged or not UTF-8, or a line, or what the file
    unpacks to, is too long.
    """
    if path.suffix == ".zst" and path.suffix not in OPENERS:
        raise DataError("{path}: .zst files need Python 3.14; unpack it with `zstd -d`, and give that file.", path=path)
    number = unpacked = 0
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as lines:
            most = ALWAYS_ALLOWED + MOST_RATIO * path.stat().st_size if path.suffix in OPENERS else math.inf
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE + 1), b""), start=1):
                unpacked += len(line)
                if len(line) > LONGEST_LINE:
                    message = (
                        "{path}, line {number}: more than {most:,} bytes; expected a sentence or a row of a table."
                    )
                    raise DataError(message, path=path, number=number, most=LONGEST_LINE)
                if unpacked > most:
                    raise unpacks_to_too_much(path, int(most))
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\n")
    except FileNotFoundError as error:
        raise DataError("There is no file {path}.", path=path) from error
    except UnicodeDecodeError as error:
        raise DataError(
            "{path}, line {number} is not UTF-8 text. Save it as UTF-8.", path=path, number=number
        ) from error
    except _DAMAGED as error:
        message = "{path} cannot be read: it is damaged or not a {suffix} file. Copy it again from its source."
        raise DataError(message, path=path, suffix=path.suffix) from error
    except OSError as error:
        # The system names the reason; the module bz2 gives none.
        reason = error.strerror or "damaged"
        raise DataError("{path} cannot be read: {error}.", path=path, error=reason) from error


def unpacks_to_too_much(path: Path, most: int) -> DataError:
    """The error of a file that is too small to hold as much text as comes out of it."""
    message = (
        "{path} is not read: it unpacks to more than {most:,} bytes, too many for a text file of its size. If you "
        "trust it, unpack it and give the unpacked file."
    )
    return DataError(message, path=path, most=most)


def parse_pairs(lines: Iterable[str], name: str, limit: int | None = None) -> list[Pair]:
    """At most `limit` pairs of these lines; blank lines are skipped, and errors call the file `name`.

    Raises a DataError if a line has no two columns, or there is no pair.
    """
    pairs: list[Pair] = []
    for number, line in enumerate(lines, start=1):
        if limit is not None and len(pairs) >= limit:
            break
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 2 or not columns[0] or not columns[1]:
            message = "{name}, line {number}: expected “source TAB target”, got {line!r}."
            raise DataError(message, name=name, number=number, line=line.strip()[:60])
        pairs.append(Pair(columns[0], columns[1]))
    if not pairs:
        raise DataError("{name} contains no sentence pair.", name=name)
    return pairs
