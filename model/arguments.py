"""Types of the command line's arguments: each says what it expected and what came. Their one home.

For `argparse`: `type=WholeNumber(1, 100)`. What is wrong ends the program with exit code 2 and one sentence.
"""

import math
from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Sentences, pairs and steps that can be asked for: more than any data has.
MOST: Final = 10**9


@dataclass(frozen=True)
class WholeNumber:
    """A whole number within bounds, which belong to it."""

    least: int
    most: int

    def __call__(self, text: str) -> int:
        """Parse one."""
        try:
            value = int(text)
        except ValueError:
            raise self._wrong(text) from None
        if value not in self:
            raise self._wrong(text)
        return value

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"

    def _wrong(self, text: str) -> ArgumentTypeError:
        return ArgumentTypeError(f"expected {self}, got {short(text)}")


@dataclass(frozen=True)
class Number:
    """A finite number within bounds."""

    #: least, most: they belong to it unless they are said to be left out.
    least: float
    most: float
    #: without_least, without_most: which bound is left out.
    without_least: bool = False
    without_most: bool = False

    def __call__(self, text: str) -> float:
        """Parse one."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if value not in self:
            raise ArgumentTypeError(f"expected {self}, got {short(text)}")
        return value

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return False
        above = self.least < value if self.without_least else self.least <= value
        return above and (value < self.most if self.without_most else value <= self.most)

    def __str__(self) -> str:
        begin = f"above {self.least:g}" if self.without_least else f"of at least {self.least:g}"
        return f"a number {begin} and {'below' if self.without_most else 'up to'} {self.most:g}"


SHARE: Final = Number(0, 1, without_most=True)
COUNT: Final = WholeNumber(1, MOST)


def path(text: str) -> Path:
    """Parse the path of a file or folder."""
    if not text.strip() or "\0" in text:
        raise ArgumentTypeError(f"expected the path of a file or folder, got {short(text)}")
    return Path(text)


def short(text: str) -> str:
    """A text of any length as messages repeat it."""
    return repr(text if len(text) <= 40 else f"{text[:40]} …")
