"""Read data files row by row, with errors that name the line: lines, JSON objects, and tables of many formats.

A table is text with tabs or commas, JSON objects a line, a Parquet file, or a folder that the library `datasets` saved.
Text may be packed (`pairs.OPENERS`). Whatever a file holds, it is data: nothing is unpickled or computed, a row is in
memory at a time, and what unpacks to far more than its size is refused.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from model.arrays_file import reason
from model.errors import DataError, HeadlightError, Message, said
from model.folder_files import open_file, read_as_data, read_file
from model.pairs import ALWAYS_ALLOWED, LONGEST_LINE, MOST_RATIO, OPENERS, read_lines, unpacks_to_too_much
from model.words import Span


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers from 1. Raises as `pairs.read_lines`."""
    for number, line in enumerate(read_lines(path), start=1):
        if text := line.strip():
            yield number, text


class LineError(DataError):
    """One line of a data file is not as it should be; `reason` says why, without file and line."""

    def __init__(self, path: Path, number: int, reason: str) -> None:
        super().__init__(said("{path}, line {number}: {reason}.", path=path, number=number, reason=reason))
        self.number, self.reason = number, reason


@dataclass(frozen=True)
class JsonRow:
    """One line of a JSONL file, asked for its fields by name and kind.

    A field that is missing, something else or out of range raises a `LineError`.
    """

    path: Path
    number: int
    fields: dict[str, Any]

    def line_error(self, text: str, /, **values: object) -> LineError:
        """An error that names the file and the line; takes what a `HeadlightError` takes."""
        return LineError(self.path, self.number, text if isinstance(text, Message) else said(text, **values))

    def text(self, name: str) -> str:
        """A text that is not blank."""
        value = self._field(name)
        if not isinstance(value, str) or not value.strip():
            raise self.line_error("expected “{name}” to be a text, got {short}", name=name, short=_short(value))
        return value

    def words(self, name: str) -> list[str]:
        """A list of words: texts without white space."""
        value = self._field(name)
        if not isinstance(value, list) or not value:
            raise self.line_error(
                "expected “{name}” to be a list of words, got {short}", name=name, short=_short(value)
            )
        for word in value:
            if not isinstance(word, str) or word.split() != [word]:
                message = "expected “{name}” to contain words without white space, got {short}"
                raise self.line_error(message, name=name, short=_short(word))
        return value

    def span(self, name: str, length: int) -> Span:
        """A half-open span [begin, end] of `length` tokens, with at least one token in it."""
        begin, end = self._pair(self._field(name), name)
        if not 0 <= begin < end <= length:
            message = "expected “{name}” to be [begin, end] with 0 ≤ begin < end ≤ {length}, got {value}"
            raise self.line_error(message, name=name, length=length, value=(begin, end))
        return begin, end

    def links(self, name: str, first: int, second: int) -> frozenset[tuple[int, int]]:
        """Pairs of indices, below `first` and below `second`."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self.line_error(
                "expected “{name}” to be a list of links [index, index], got {short}", name=name, short=_short(value)
            )
        links = [self._pair(link, name) for link in value]
        for i, j in links:
            if not (0 <= i < first and 0 <= j < second):
                message = "expected the indices of links in “{name}” to be below {first} and {second}, got {value}"
                raise self.line_error(message, name=name, first=first, second=second, value=[i, j])
        return frozenset(links)

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            message = "expected a field “{name}”, got {short}"
            raise self.line_error(message, name=name, short=_short(", ".join(self.fields) or "none"))
        return self.fields[name]

    def _pair(self, value: Any, name: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != 2 or not all(type(number) is int for number in value):
            message = "expected two whole numbers in “{name}”, got {short}"
            raise self.line_error(message, name=name, short=_short(value))
        return value[0], value[1]


def read_json_rows(path: Path) -> Iterator[JsonRow]:
    """The rows of a JSONL file in UTF-8. Raises a DataError if it cannot be read, or a line is not a JSON object."""
    for number, line in numbered_lines(path):
        yield parse_json_row(path, number, line)


def parse_json_row(path: Path, number: int, line: str) -> JsonRow:
    """One line as a row. Raises a LineError if it is not a JSON object."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise LineError(path, number, said("expected one JSON object, got {short}", short=_short(line)))
    return JsonRow(path, number, fields)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]} …"


class Columns(NamedTuple):
    """Which columns of a table are read, by their names; "" for the usual ones."""

    text: str = ""
    translation: str = ""


UNNAMED: Final = Columns()
#: What columns are called where nobody names them; a table without such a heading has them in this order.
USUAL: Final = Columns("text", "translation")
#: Rows of which all begin with a number where the first row is a heading.
LOOKED_AT: Final = 20
#: Bytes of a datasets folder's own description, of a batch of rows that it keeps, and of a row group of a Parquet file.
LARGEST_STATE, LARGEST_BATCH, LARGEST_GROUP = 1 << 20, 1 << 28, 1 << 30
#: Bytes of a file of rows: such files are read in parts.
LARGEST_FILE: Final = 1 << 42
#: Encodings of texts in a Parquet file from which a value is no larger than what was written of it.
_ENCODINGS: Final = {"PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"}


def read_columns(path: Path, columns: Columns) -> Iterator[tuple[int, list[str]]]:
    """The number, from 1, of each row that is not blank, with its text and its translation if the table has any.

    Of text without headings a row is all its columns. Raises a DataError if the file cannot be read or has no such
    column, and a LineError if a row has none.
    """
    columns = Columns(*(name.strip() for name in columns))
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return _arrow_columns(path, columns)
    match (path.with_suffix("") if path.suffix in OPENERS else path).suffix.lower():
        case ".jsonl":
            return _of_objects(path, columns)
        case ".csv":
            return _under_headings(path, _comma_separated(path), columns)
        case ".tsv":
            return _under_headings(path, _tab_separated(path), columns)
        case _:
            rows = _tab_separated(path)
            return _under_headings(path, rows, columns) if any(columns) else rows


def _of_objects(path: Path, columns: Columns) -> Iterator[tuple[int, list[str]]]:
    text, translation = _named_or_usual(columns)
    for row in read_json_rows(path):
        names = [text, *([translation] if columns.translation or translation in row.fields else [])]
        # An object whose text is empty is a blank row.
        cells = ["" if name in row.fields and _is_blank(row.fields[name]) else row.text(name) for name in names]
        if cells[0]:
            yield row.number, cells


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _named_or_usual(columns: Columns) -> Columns:
    return Columns(columns.text or USUAL.text, columns.translation or USUAL.translation)


def _tab_separated(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in numbered_lines(path):
        yield number, line.split("\t")


def _comma_separated(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells, as text whatever they begin with; one in quotes may go over several lines, up to the csv module's
    limit.
    """
    rows = csv.reader(f"{line}\n" for line in read_lines(path))
    try:
        for cells in rows:
            if any(map(str.strip, cells)):
                yield rows.line_num, cells
    except csv.Error as error:
        raise LineError(path, rows.line_num, str(error)) from error


def _under_headings(
    path: Path, rows: Iterator[tuple[int, list[str]]], columns: Columns
) -> Iterator[tuple[int, list[str]]]:
    """Rows of the columns that are named or have the usual names; of a table without headings, as they are."""
    begin = list(islice(rows, LOOKED_AT + 1))
    names = [cell.strip() for cell in begin[0][1]] if begin else []
    # A heading over numbers ("id") says that these are not the texts.
    is_headed = (
        len(begin) > 1
        and all(map(str.isidentifier, names))
        and all(cells[0].strip().isdecimal() for _, cells in begin[1:])
    )
    if not any(columns) and len(names) <= 2 and not is_headed and USUAL.text not in map(str.lower, names):
        yield from chain(begin, rows)
        return
    if not any(columns):
        names = [name.lower() if name.lower() in USUAL else name for name in names]
    wanted = _places(path, names, columns)
    for number, cells in chain(begin[1:], rows):
        chosen = [cells[at] if at < len(cells) else "" for at in wanted]
        if chosen[0].strip():
            yield number, chosen


def _places(path: Path, names: Sequence[str], columns: Columns) -> list[int]:
    """Where the wanted columns are among these. Raises a DataError that lists them if one is not there."""
    text, translation = _named_or_usual(columns)
    wanted = [text, *([translation] if columns.translation or translation in names else [])]
    for name in wanted:
        if name not in names:
            listed = ", ".join(repr(each) for each in names[:20]) + (" …" if len(names) > 20 else "")
            message = "{path} has no column {name!r}. Its columns are {columns}; name one of them."
            raise DataError(message, path=path, name=name, columns=_cut(listed))
    return [names.index(name) for name in wanted]


def _arrow_columns(path: Path, columns: Columns) -> Iterator[tuple[int, list[str]]]:
    """Rows of a Parquet file or of a folder that `datasets` saved, a batch at a time."""
    try:
        import pyarrow
    except ImportError as error:
        message = "{path} needs the package pyarrow, which is not installed: `pip install -r requirements.txt`."
        raise DataError(message, path=path) from error
    unpacked = number = 0
    packed = sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size
    try:
        for batch in _saved_batches(path) if path.is_dir() else _parquet_batches(path, columns):
            wanted = [batch.column(at) for at in _places(path, batch.schema.names, columns)]
            for column, name in zip(wanted, _named_or_usual(columns), strict=False):
                kind = getattr(column.type, "value_type", column.type)
                if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                    message = "Column {name!r} of {path} has values of type {kind}; expected text."
                    raise DataError(message, name=name, path=path, kind=_cut(str(column.type)))
            # A value at a time: of a dictionary, each could be the longest.
            for values in zip(*wanted, strict=True):
                number += 1
                texts = [value.as_py() or "" for value in values]
                sizes = [len(text.encode()) for text in texts]
                unpacked += sum(sizes)
                if max(sizes) > LONGEST_LINE:
                    raise LineError(path, number, said("more than {most:,} bytes", most=LONGEST_LINE))
                if unpacked > (most := ALWAYS_ALLOWED + MOST_RATIO * packed):
                    raise unpacks_to_too_much(path, most)
                if texts[0].strip():
                    yield number, texts
    except HeadlightError:
        raise
    except Exception as error:  # Whatever the library thinks of bytes from outside.
        message = "{path} cannot be read: it is damaged or of another format ({reason})."
        raise DataError(message, path=path, reason=reason(error)) from error


def _parquet_batches(path: Path, columns: Columns) -> Iterator[Any]:
    from pyarrow import parquet

    with _opened(path.parent, path.name) as file:
        read = parquet.ParquetFile(file)
        names = read.schema_arrow.names
        wanted = [names[at] for at in _places(path, names, columns)]
        for group in range(read.metadata.num_row_groups):
            row_group = read.metadata.row_group(group)
            for at in range(row_group.num_columns):
                column = row_group.column(at)
                is_odd = not set(column.encodings) <= _ENCODINGS
                if column.path_in_schema in wanted and (is_odd or column.total_uncompressed_size > LARGEST_GROUP):
                    message = (
                        "{path} cannot be read: a row group has more than {most:,} bytes or uses a delta encoding. "
                        "Write it again with smaller row groups and in the usual encoding."
                    )
                    raise DataError(message, path=path, most=LARGEST_GROUP)
        file.seek(0)
        # Words that come again and again stay one.
        read = parquet.ParquetFile(file, read_dictionary=wanted)
        yield from read.iter_batches(batch_size=1_000, columns=wanted, use_threads=False)


def _saved_batches(folder: Path) -> Iterator[Any]:
    """The batches of the Arrow files that the folder's description names, in its order."""
    from pyarrow import ipc

    with read_as_data(folder, _no_dataset(folder)):
        state = json.loads(read_file(folder, "state.json", LARGEST_STATE))
    if state.get("_indices_data_files"):
        raise DataError("{folder} stores the order of its rows separately; save the dataset again.", folder=folder)
    for name in [str(file["filename"]) for file in state["_data_files"]]:
        with _opened(folder, name) as file, ipc.open_stream(file) as batches:
            for batch in batches:
                if batch.nbytes > LARGEST_BATCH:
                    raise DataError(
                        "{path} cannot be read: a batch has more than {most:,} bytes.",
                        path=folder / name,
                        most=LARGEST_BATCH,
                    )
                yield batch


def _no_dataset(folder: Path) -> DataError:
    """What to give in place of a folder that has no description."""
    parts = sorted(part.parent.name for part in folder.glob("*/state.json"))
    if parts:
        message = "{folder} has several parts ({parts}); choose the folder of one of them."
        return DataError(message, folder=folder, parts=_cut(", ".join(parts)))
    message = "{folder} is not a dataset: expected a folder that save_to_disk of the library datasets wrote."
    return DataError(message, folder=folder)


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[BinaryIO]:
    with read_as_data(folder / name), open_file(folder, name, LARGEST_FILE) as file:
        yield file


def _cut(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:400]} …"
