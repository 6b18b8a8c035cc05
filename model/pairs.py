"""Sentence pairs from files. Knows nothing of tokens or batches."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from model.errors import DataError

OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


def data_set_name(path: Path) -> str:
    """A file's name without its endings: `tatoeba_dev` for `tatoeba_dev.tsv.xz`."""
    return path.name.partition(".")[0]


def read_pairs(path: Path, limit: int | None = None) -> list[Pair]:
    """Read a TSV file (plain, `.xz` or `.gz`): one pair a line, source TAB target, UTF-8.

    Args:
        path: the file.
        limit: read at most this many pairs.

    Raises:
        DataError: there is no such file, it is damaged or not UTF-8, a line has no two columns, or there is no pair.
    """
    pairs: list[Pair] = []
    try:
        with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if limit is not None and len(pairs) >= limit:
                    break
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
                    raise DataError(f"{path}, line {number}: expected “source TAB target”, got {line[:60]!r}.")
                pairs.append(Pair(columns[0], columns[1]))
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}; name a TSV file (.tsv, .tsv.xz or .tsv.gz).") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}.") from error
    if not pairs:
        raise DataError(f"{path} holds no pair.")
    return pairs
