"""Read lines and JSON rows of a data file, with errors that name the line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.errors import DataError
from model.messages import Message, said
from model.pairs import read_lines
from model.words import Span


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers from 1. Raises as `pairs.read_lines`."""
    for number, line in enumerate(read_lines(path), start=1):
        if text := line.strip():
            yield number, text


class LineError(DataError):
    """One line of a data file is not as it should be; `reason` says why, without file and line."""

    def __init__(self, path: Path, number: int, reason: str) -> None:
        super().__init__("{path}, line {number}: {reason}", path=path, number=number, reason=reason)
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
            raise self.line_error("expected “{name}” to be a text, got {short}.", name=name, short=_short(value))
        return value

    def words(self, name: str) -> list[str]:
        """A list of words: texts without white space."""
        value = self._field(name)
        if not isinstance(value, list) or not value:
            raise self.line_error(
                "expected “{name}” to be a list of words, got {short}.", name=name, short=_short(value)
            )
        for word in value:
            if not isinstance(word, str) or word.split() != [word]:
                message = "expected “{name}” to contain words without white space, got {short}."
                raise self.line_error(message, name=name, short=_short(word))
        return value

    def span(self, name: str, length: int) -> Span:
        """A half-open span [begin, end] of `length` tokens, with at least one token in it."""
        begin, end = self._pair(self._field(name), name)
        if not 0 <= begin < end <= length:
            message = "expected “{name}” to be [begin, end] with 0 ≤ begin < end ≤ {length}, got {value}."
            raise self.line_error(message, name=name, length=length, value=(begin, end))
        return begin, end

    def links(self, name: str, first: int, second: int) -> frozenset[tuple[int, int]]:
        """Pairs of indices, below `first` and below `second`."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self.line_error(
                "expected “{name}” to be a list of links [index, index], got {short}.", name=name, short=_short(value)
            )
        links = [self._pair(link, name) for link in value]
        for i, j in links:
            if not (0 <= i < first and 0 <= j < second):
                message = "expected links of “{name}” below [{first}, {second}], got {value}."
                raise self.line_error(message, name=name, first=first, second=second, value=[i, j])
        return frozenset(links)

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            raise self.line_error(
                "expected a field “{name}”, got {short}.", name=name, short=_short(", ".join(self.fields) or "none")
            )
        return self.fields[name]

    def _pair(self, value: Any, name: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != 2 or not all(type(number) is int for number in value):
            raise self.line_error(
                "expected two whole numbers in “{name}”, got {short}.", name=name, short=_short(value)
            )
        return value[0], value[1]


def read_json_rows(path: Path) -> Iterator[JsonRow]:
    """The rows of a JSONL file: one JSON object a line, UTF-8.

    Raises a DataError if the file cannot be read, or a line is no JSON object.
    """
    for number, line in numbered_lines(path):
        yield parse_json_row(path, number, line)


def parse_json_row(path: Path, number: int, line: str) -> JsonRow:
    """One line as a row. Raises a LineError if it is no JSON object."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise LineError(path, number, said("expected one JSON object, got {short}.", short=_short(line)))
    return JsonRow(path, number, fields)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]} …"
