"""Read a selection from the parameters of an address, and write it into them.

All that comes in an address is hostile until it is read: what is missing or wrong becomes the default. How a value is
read and written follows from the type of its field.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from viz.selection import moved
from viz.selection.fields import MAX_TEXT_IN_URL, Field
from viz.selection.selection import FIELDS, Selection

#: A number of more digits is wrong.
MAX_DIGITS: Final = 6
#: They follow from what else is in an address.
_SAY_WHAT_IS_CHOSEN: Final = frozenset(field.chosen_in for field in FIELDS.values())
_CODE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


def parse(params: Mapping[str, str], base: Selection) -> Selection:
    """Read an address's parameters; what is missing or wrong becomes the default.

    Of `base` stays what no address carries: its folder, its picture, and a text that is too long or not of this view,
    for its absence says nothing.
    """
    params = moved.renamed(params)
    values = choices(params)
    for name, field in FIELDS.items():
        if not field.in_address:
            if name not in _SAY_WHAT_IS_CHOSEN:
                values[name] = base.value(name)
        elif field.param in params:
            continue
        elif field.only_with is not None or (field.kind is str and len(str(base.value(name))) > MAX_TEXT_IN_URL):
            values[name] = base.value(name)
    if "branches" in values:
        # Older addresses leave the first step out, and a branch is looked at from a step of it on.
        values.setdefault("step", 0)
    return Selection().changed(**values)


def choices(params: Mapping[str, str]) -> dict[str, object]:
    """The names and values of the choices that parameters name, without what is wrong."""
    values: dict[str, object] = {}
    for name, field in FIELDS.items():
        if field.in_address and field.param in params:
            with suppress(ValueError):
                values[name] = _READERS[name](params[field.param])
    return values


def to_params(selection: Selection) -> dict[str, str]:
    """The address's parameters: every choice that differs from the default; where a page may propose, every choice."""
    params = {}
    for name, field in FIELDS.items():
        value = selection.value(name)
        is_written = selection.value(field.chosen_in) if field.chosen_in else value != field.default
        if field.only_with is not None and selection.value(field.only_with[0]) != field.only_with[1]:
            continue
        if field.in_address and is_written:
            params[field.param] = ".".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return moved.with_head({name: value for name, value in params.items() if len(value) <= MAX_TEXT_IN_URL})


def _reader(field: Field) -> Callable[[str], object]:
    """What reads a field's value from an address; it raises ValueError for a wrong one."""
    if field.options:
        return partial(_option, field.options)
    if field.kind is bool:
        return _yes_or_no
    if field.kind in (int, int | None):
        return _number
    if field.kind == tuple[int, ...]:
        return _numbers
    if field.kind == tuple[str, ...]:
        return _codes
    if field.kind is str:
        return partial(_text, field.max_length)
    raise TypeError(f"{field.name}: no way to read {field.kind} from an address")


def _option(options: tuple[str, ...], value: str) -> str:
    if value not in options:
        raise ValueError(value)
    return value


def _yes_or_no(value: str) -> bool:
    return _option(("True", "1", "False", "0"), value) in ("True", "1")


def _number(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        raise ValueError(value)
    return int(value)


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_number(part) for part in value.split(".") if part))


def _codes(value: str) -> tuple[str, ...]:
    if not set(value) <= _CODE_CHARACTERS:
        raise ValueError(value)
    return tuple(part for part in value.split(".") if part)


def _text(max_length: int | None, value: str) -> str:
    if max_length is not None and len(value) > max_length:
        raise ValueError(value)
    return value


_READERS: Final[Mapping[str, Callable[[str], object]]] = {name: _reader(field) for name, field in FIELDS.items()}
