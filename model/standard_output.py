"""Print texts in every language on every system: Windows gives a program's output an encoding of 256 characters."""

import io
import sys


def print_in_utf_8() -> None:
    """Print UTF-8 into a file or another program on every system, and escape what a terminal cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
