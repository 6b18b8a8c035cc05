"""Check values from JSON of unknown origin: each of the expected type and range.

Every function takes a value and its name for messages, and returns the value or raises `Malformed`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final, NoReturn, TypeVar

from model.errors import Message, said

Record = TypeVar("Record")
Range = tuple[str, Callable[[Any], bool]]
"""A condition in words ("must be …"), and whether a value meets it."""
Scalar = str | int | float | bool

MAX_TEXT: Final = 4_000
MAX_ROWS: Final = 200
MAX_COUNT: Final = 10**12
MAX_NUMBER: Final = 1e15


class Malformed(ValueError):
    """A value is not as expected; the message can follow a file's name. Takes what a `HeadlightError` takes."""

    def __init__(self, text: str, /, **values: object) -> None:
        # A name in a file may hold half a surrogate pair; the message must be text all the same.
        known = {name: without_surrogates(value) if type(value) is str else value for name, value in values.items()}
        self.message = text if isinstance(text, Message) else said(text, **known)
        super().__init__(self.message)


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate, which is not a character and has no UTF-8, as the replacement character."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def has_surrogate(text: str) -> bool:
    """Whether a text holds half of a surrogate pair, which is not a character and has no UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def parsed(text: str, where: str = "") -> dict[str, Any]:
    """The JSON object that the text is; NaN and infinities, which Python writes, are refused."""

    def refuse(constant: str) -> NoReturn:
        raise Malformed("{where}{constant} is not a number", where=where, constant=constant)

    try:
        value = json.loads(text, parse_constant=refuse)
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed("{where}it is not valid JSON", where=where) from error
    return json_object(value, said("{where}the content", where=where))


def json_object(value: object, what: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise wrong(what, said("a JSON object"), value)
    return value


def rows(value: object, what: str) -> list[Any]:
    """A list of a length that a page can show."""
    if not isinstance(value, list) or len(value) > MAX_ROWS:
        raise wrong(what, said("a list of at most {most} entries", most=MAX_ROWS), value)
    return value


def text(value: object, what: str) -> str:
    """A text of a length that a page can show."""
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise wrong(what, said("a text of at most {most:,} characters", most=MAX_TEXT), value)
    # JSON can escape it, and no browser can be sent it.
    if has_surrogate(value):
        raise wrong(what, said("valid Unicode text (without lone surrogates)"), value)
    return value


def count(value: object, what: str) -> int:
    """A whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        raise wrong(what, said("a whole number, 0 or more"), value)
    return value


def number(value: object, what: str) -> int | float:
    """A finite number. A bool is none, although Python counts it as one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(what, said("a number"), value)
    if not -MAX_NUMBER <= value <= MAX_NUMBER:
        raise wrong(what, said("between ±{most:g}", most=MAX_NUMBER), value)
    return value


def scalar(value: object, what: str) -> Scalar:
    """A text, a number, true or false."""
    if isinstance(value, str):
        return text(value, what)
    return value if isinstance(value, bool) else number(value, what)


_READERS: Final[Mapping[object, Callable[[object, str], Scalar]]] = {str: text, int: count, float: number}


def record(kind: type[Record], value: object, where: str, **ranges: Range) -> Record:
    """The dataclass that a JSON object spells out: fields of type str, int and float; other names are left out."""
    content = json_object(value, where)
    values: dict[str, Scalar] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        name, what = field.name, f"{where}.{field.name}"
        given = content.get(name, None if field.default is MISSING else field.default)
        values[name] = _READERS[field.type](given, what)
        if name in ranges and not ranges[name][1](values[name]):
            raise wrong(what, ranges[name][0], values[name])
    return kind(**values)


def wrong(what: str, expected: str, value: object) -> Malformed:
    """The error that says what was expected and what came."""
    shown = f"a {type(value).__name__} of {len(value)}" if isinstance(value, dict | list) else repr(value)
    shown = shown if len(shown) <= 60 else shown[:60] + " …"
    return Malformed("{what} must be {expected}, got {got}", what=what, expected=expected, got=shown)
