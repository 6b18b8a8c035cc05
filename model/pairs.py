"""Read sentence pairs, one `source TAB target` a line, from TSV files or text."""

import gzip
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from model.errors import DataError

Parsed = TypeVar("Parsed")

OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


def data_set_name(path: Path) -> str:
    """A file's name without its endings: `tatoeba_dev` for `tatoeba_dev.tsv.xz`."""
    return path.name.partition(".")[0]


def read_pairs(path: Path, limit: int | None = None) -> list[Pair]:
    """Read a TSV file (plain, `.xz` or `.gz`), UTF-8, as `parse_pairs` does.

    Raises:
        DataError: there is no such file, it is damaged or not UTF-8, a line has no two columns, or there is no pair.
    """
    return read_lines(path, lambda lines: parse_pairs(lines, str(path), limit))


def read_lines(path: Path, parse: Callable[[Iterable[str]], Parsed]) -> Parsed:
    """What `parse` makes of the lines of a text file (plain, `.xz` or `.gz`), UTF-8. Raises as `read_pairs`."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
            return parse(lines)
    except FileNotFoundError as error:
        raise DataError("There is no file {path}; name a TSV file (.tsv, .tsv.xz or .tsv.gz).", path=path) from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError("{path} cannot be read: {error}.", path=path, error=error) from error
    except UnicodeDecodeError as error:
        raise DataError("{path} is not UTF-8 text: {error}.", path=path, error=error) from error


def parse_pairs(lines: Iterable[str], name: str, limit: int | None = None) -> list[Pair]:
    """At most `limit` pairs of these lines; blank lines are skipped, and errors call the file `name`.

    Raises:
        DataError: a line has no two columns, or there is no pair.
    """
    pairs: list[Pair] = []
    for number, line in enumerate(lines, start=1):
        if limit is not None and len(pairs) >= limit:
            break
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 2 or not columns[0] or not columns[1]:
            raise DataError(
                "{name}, line {number}: expected “source TAB target”, got {line!r}.",
                name=name,
                number=number,
                line=line.strip()[:60],
            )
        pairs.append(Pair(columns[0], columns[1]))
    if not pairs:
        raise DataError("{name} holds no pair.", name=name)
    return pairs
