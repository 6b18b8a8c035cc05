"""Read a file that a person loaded line by line; lines that will not do are left out, each with why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from model.errors import DataError
from viz.text.messages import Message, said

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a file that is left out: its number from 1, and why."""

    number: int
    reason: str

    @property
    def message(self) -> Message:
        """Both as a sentence; a reason may be a sentence itself."""
        if self.reason.endswith("."):
            return said("Line {number}: {reason}", number=self.number, reason=self.reason)
        return said("Line {number}: {reason}.", number=self.number, reason=self.reason)


def read_lines(
    content: bytes, name: str, read: Callable[[str, int], Row], most: int, expected: str
) -> tuple[tuple[Row, ...], list[BadLine]]:
    """The rows of a file, one a line, and the lines that will not do; blank ones do not count.

    Args:
        content, name: of the file.
        read: makes a row of a line and its number from 1; a DataError says why it will not do.
        most: rows that a file may hold.
        expected: what a file holds, for the error.

    Raises:
        DataError: the file holds no row, or too many.
    """
    rows: list[Row] = []
    bad: list[BadLine] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            text = line.decode()
            if text.strip():
                rows.append(read(text, number))
        except UnicodeDecodeError:
            bad.append(BadLine(number, said("not UTF-8 text")))
        except DataError as error:
            bad.append(BadLine(number, getattr(error, "reason", error.message)))
        if len(rows) > most:
            raise DataError(
                "{name} holds more than {most:,} rows; take a part of it, or use "
                "`python -m model atlas --text FILE.txt --out FILE.npz`.",
                name=name,
                most=most,
            )
    if not rows:
        if not bad:
            raise DataError(
                "{name} holds nothing that can be read; expected {expected}, in UTF-8.", name=name, expected=expected
            )
        raise DataError(
            "{name} holds nothing that can be read; expected {expected}, in UTF-8. {line}",
            name=name,
            expected=expected,
            line=bad[0].message,
        )
    return tuple(rows), bad
