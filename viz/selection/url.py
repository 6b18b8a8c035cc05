"""The selection as a URL's parameters. What is missing or wrong there becomes the default.

All of it is hostile until it is read. Knows nothing of sessions or widgets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from viz.selection import options as choices
from viz.selection.options import Selection

_TEXTS: Final = ("text", "other", "companion")


def _one_of(options: Sequence[str]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in options:
            raise ValueError(value)
        return value

    return read


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 6):
        raise ValueError(value)
    return int(value)


def _counts(value: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_count(part) for part in value.split(".") if part))


def _codes(value: str) -> tuple[str, ...]:
    if not set(value) <= _CODE_CHARACTERS:
        raise ValueError(value)
    return tuple(part for part in value.split(".") if part)


def _name(value: str) -> str:
    if len(value) > choices.MAX_NAME:
        raise ValueError(value)
    return value


def _yes_or_no(value: str) -> bool:
    return _one_of(("True", "False"))(value) == "True"


_CODE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")
_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "checkpoint": str,
    "device": _one_of(choices.DEVICES),
    "text": str,
    "other": str,
    "site": _one_of(choices.SITES),
    "layer": _count,
    "head": _count,
    "token": _count,
    "other_token": _count,
    "key_token": _count,
    "step": _count,
    "side": _one_of(choices.SIDES),
    "view": _one_of(choices.VIEWS),
    "part": _one_of(choices.PARTS),
    "companion": str,
    "member": _count,
    "about": _one_of(choices.ABOUT),
    "seed": _count,
    "figure": _one_of(choices.FIGURES),
    "order": _one_of(choices.ORDERS),
    "keep": _count,
    "drawn": _one_of(choices.DRAWN),
    "measure": _one_of(choices.MEASURES),
    "also": _counts,
    "threshold": _count,
    "window": _count,
    "words": _yes_or_no,
    "special": _yes_or_no,
    "scaled": _yes_or_no,
    "masked": _yes_or_no,
    "bertviz": _one_of(choices.BERTVIZ),
    "position": _count,
    "dimension": _count,
    "shift": _count,
    "width": _count,
    "base": _count,
    "pictures": _one_of(choices.PICTURES),
    "studio": _one_of(choices.STUDIO),
    "branches": _codes,
    "branch": _count,
    "against": _count,
    "whose": _one_of(choices.WHOSE),
    "candidates": _count,
    "temperature": _count,
    "top_k": _count,
    "top_p": _count,
    "samples": _count,
    "draw": _count,
    "beam": _count,
    "penalty": _count,
    "node": _count,
    "edit": _one_of(choices.EDITS),
    "once": _yes_or_no,
    "lab": _one_of(choices.LAB),
    "pair": _name,
    **dict.fromkeys((*choices.MARKS, *choices.OTHER_MARKS), _count),
    "given": _one_of(choices.SETS),
    "off": _codes,
    "spare": _yes_or_no,
    "instead": _one_of(choices.REPLACEMENTS),
    "scope": _one_of(choices.SCOPES),
    "atlas": _one_of(choices.ATLAS),
    "corpus": _one_of(choices.CORPORA),
    "corpus_figure": _one_of(choices.CORPUS_FIGURES),
    "read_off": _one_of(choices.READ_OFF),
}


def parse(params: Mapping[str, str], base: Selection) -> Selection:
    """Read a URL's parameters; what is missing or wrong becomes the default.

    A text of `base` that is too long for any URL stays, for its absence there says nothing.
    """
    chosen: dict[str, Any] = {
        name: getattr(base, name)
        for name in _TEXTS
        if len(getattr(base, name)) > choices.MAX_TEXT_IN_URL and name not in params
    }
    for name, read in _READERS.items():
        if name in params:
            try:
                chosen[name] = read(params[name])
            except ValueError:
                continue
    return Selection(**chosen)


def to_params(selection: Selection) -> dict[str, str]:
    """The URL's parameters: every choice that differs from the default; never where a model or a picture lies."""
    params = {}
    for field in fields(selection):
        value = getattr(selection, field.name)
        if field.name in _READERS and value != field.default:
            params[field.name] = ".".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return {name: value for name, value in params.items() if len(value) <= choices.MAX_TEXT_IN_URL}
