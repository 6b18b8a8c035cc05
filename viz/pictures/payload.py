"""The protocol between Python and the browser: a dataclass is packed into bytes, and an answer is read into one.

Streamlit hands the bytes to JavaScript untouched:

    uint32 header length, little-endian | header, UTF-8 JSON | the arrays, one after another, little-endian

The header holds the fields of the dataclass under camelCase names, and `arrays`, their types and lengths, so that
`payload.js` needs no second description. The type of a field says how it is packed (`Text`, `Tokens`, `LOCAL`, …); a
method `derived() -> dict[str, object]` adds what is computed from fields, by names as in Python. What comes back is
hostile until `read` has compared every value with the type of its field and with the values allowed for it.
"""

import dataclasses
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from itertools import repeat
from math import isfinite
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import Float, UInt16
from numpy.typing import NDArray

from viz.text import written
from viz.text.messages import shown

Read = TypeVar("Read")
#: Turns a field's value into what JSON holds.
_Encode = Callable[[Any], object]

#: A weight w travels as round(√w · 65535): colours are taken at √w, and three decimals of w survive.
FULL: Final = 65535


class _Mark:
    """A mark in the type of a field."""


#: `Annotated[T, CHOSEN]`: what a person chooses, which the digest of a payload leaves out.
CHOSEN: Final = _Mark()
#: `Annotated[T, LOCAL]`: what stays in Python.
LOCAL: Final = _Mark()
#: `Annotated[T, FLAT]`: a dataclass, or a mapping of camelCase names to JSON, packed among the fields beside it.
FLAT: Final = _Mark()


class _Anything:
    def __contains__(self, value: object) -> bool:
        return True


#: `Annotated[T, ANYTHING]`: what a browser may answer with any value of this type.
ANYTHING: Final = _Anything()


def finite(number: float) -> float | None:
    """A number as JSON has it: null where it is infinite or none."""
    return float(number) if isfinite(number) else None


def rounded(digits: int) -> Callable[[float], float]:
    """Packs a number with so many decimals."""
    return lambda number: round(float(number), digits)


#: A message, packed in the language of the page run; a token and tokens, every character visible.
Text = Annotated[str, shown]
Token = Annotated[str, written.display_token]
Tokens = Annotated[Sequence[str], written.display_tokens]
#: A natural log-probability: null is −∞, that of a token that the model's rules forbid.
LogProb = Annotated[float, finite]


# ---- to the browser ----


def pack(content: object, *arrays: NDArray[np.generic], **more: object) -> bytes:
    """The payload of a dataclass.

    Args:
        content: a frozen dataclass; fields that are arrays follow the header, in order. With a field that is `CHOSEN`
            the header has a `digest` of all others, by which a script knows whether its picture has changed.
        arrays: further arrays (uint8, uint16, int16, float32), after those of the fields.
        more: further entries of the header, which no digest counts, as JSON holds them.
    """
    entries, own = _entries(content)
    header = {wire: value for wire, (value, is_chosen) in entries.items() if not is_chosen}
    chosen = {wire: value for wire, (value, is_chosen) in entries.items() if is_chosen}
    if chosen:
        chosen["digest"] = fingerprint(repr(header), *own, *arrays)
    return _pack({**header, **chosen, **{_camel(name): value for name, value in more.items()}}, (*own, *arrays))


def fingerprint(*parts: str | bytes | NDArray[np.generic]) -> str:
    """A short fingerprint of texts, bytes and arrays."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        part = part.encode("utf-8") if isinstance(part, str) else part
        content = part if isinstance(part, bytes) else part.tobytes()
        # The length keeps ("ab", "c") apart from ("a", "bc").
        found.update(struct.pack("<Q", len(content)))
        found.update(content)
    return found.hexdigest()


def digest(content: object) -> str:
    """A fingerprint of a dataclass as it is packed, without what is `CHOSEN`."""
    entries, arrays = _entries(content)
    return fingerprint(repr([entry for entry in entries.items() if not entry[1][1]]), *arrays)


def encoded(content: object) -> dict[str, object]:
    """A dataclass without arrays, as the header of a payload holds it."""
    return {wire: value for wire, (value, _is_chosen) in _entries(content)[0].items()}


def _entries(content: object) -> tuple[dict[str, tuple[object, bool]], list[NDArray[np.generic]]]:
    """The entries of a header, each with whether it is chosen; and the arrays."""
    entries: dict[str, tuple[object, bool]] = {}
    arrays = []
    kind: Any = type(content)
    for field in _fields(kind):
        value = getattr(content, field.name)
        if isinstance(value, np.ndarray):
            arrays.append(value)
        elif FLAT in field.marks:
            entries |= (
                {name: (part, False) for name, part in value.items()}
                if isinstance(value, Mapping)
                else _entries(value)[0]
            )
        else:
            entries[field.wire] = field.encode(value), CHOSEN in field.marks
    for name, value in content.derived().items() if hasattr(content, "derived") else ():
        if isinstance(value, np.ndarray):
            arrays.append(value)
        else:
            entries[_camel(name)] = value, False
    return entries, arrays


def _pack(header: Mapping[str, object], arrays: Sequence[NDArray[np.generic]]) -> bytes:
    assert "language" not in header, "`language` is that of the page, which `with_language` adds"
    listing = [[array.dtype.name, array.size] for array in arrays]
    text = json.dumps({**header, "arrays": listing}, ensure_ascii=False, allow_nan=False).encode("utf-8")
    flat = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes() for array in arrays)
    return b"".join((struct.pack("<I", len(text)), text, *flat))


def with_language(payload: bytes, language: str) -> bytes:
    """The payload with a language, JSON for `speak` of `messages.js`, in its header; "" is English and adds nothing."""
    if not language:
        return payload
    (length,) = struct.unpack_from("<I", payload)
    # A header is an object that holds `arrays` at least.
    header = b'{"language":' + language.encode() + b"," + payload[5 : 4 + length]
    return b"".join((struct.pack("<I", len(header)), header, payload[4 + length :]))


def sqrt_uint16(weights: Float[np.ndarray, "..."]) -> UInt16[np.ndarray, "..."]:
    """Weights in [0, 1] as round(√w · 65535). Rounding errors just outside the range are cut off."""
    stored: NDArray[np.uint16] = np.rint(np.sqrt(np.clip(weights, 0.0, 1.0)) * FULL).astype(np.uint16)
    return stored


def deflate(planes: NDArray[np.uint8]) -> bytes:
    """Bytes compressed in zlib's form, which `payload.js` unpacks by the browser's own means; travels as a uint8 array.

    The strategy is the one for numbers that scatter around small values: shorter and quicker here than the usual one.
    """
    compressor = zlib.compressobj(level=4, strategy=zlib.Z_FILTERED)
    return compressor.compress(planes.tobytes()) + compressor.flush()


class _Field(NamedTuple):
    """A field that is packed: its name in Python and on the wire, its marks, and what makes JSON of its value."""

    name: str
    wire: str
    marks: Sequence[object]
    encode: _Encode


@cache
def _fields(kind: type) -> tuple[_Field, ...]:
    hints = get_type_hints(kind, include_extras=True)
    own = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    fields = (_Field(name, _camel(name), _marks(hint), _encoder(hint)) for name, hint in own.items())
    return tuple(field for field in fields if LOCAL not in field.marks)


def _marks(hint: object) -> Sequence[object]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


@cache
def _encoder(hint: object) -> _Encode:
    origin, given = get_origin(hint), get_args(hint)
    if origin is Annotated:
        own = [mark for mark in given[1:] if callable(mark)]
        return own[0] if own else _encoder(given[0])
    if origin in (Union, UnionType):
        (inner,) = {_encoder(arm) for arm in given if arm is not NoneType}
        return lambda value: None if value is None else inner(value)
    if origin is tuple and Ellipsis not in given:
        encoders = tuple(map(_encoder, given))
        return lambda value: [encode(part) for encode, part in zip(encoders, value, strict=True)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        of_value = _encoder(given[1])
        return lambda value: {key: of_value(part) for key, part in value.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        of_part = _encoder(given[0])
        return list if of_part is _same else lambda value: [*map(of_part, value)]
    return encoded if dataclasses.is_dataclass(hint) else _same


def _same(value: object) -> object:
    return value


# ---- from the browser ----


def read(
    kind: type[Read], value: object, about: Mapping[str, object] = MappingProxyType({}), **allowed: Container[Any]
) -> Read | None:
    """What the browser sent, if all of it exists: it may speak of a picture that is gone, or say anything at all.

    Args:
        kind: a dataclass of numbers, texts, `None` and tuples of these, which travel as lists; or `int` or `str` for
            an answer with a single entry.
        value: what came, with all fields.
        about: entries that it must have besides, as a fingerprint of the picture that it speaks of.
        allowed: by the name of a field (of the entry), the values that a number or a text may have. A field whose type
            says them (`Annotated[int, range(10)]`, `Literal`) needs none.
    """
    if not isinstance(value, Mapping) or any(value.get(_camel(name)) != expected for name, expected in about.items()):
        return None
    if not dataclasses.is_dataclass(kind):
        ((name, among),) = allowed.items()
        part = value.get(_camel(name))
        return part if _fits(part, kind, among) else None
    read_parts = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        part = value.get(_camel(name))
        if _camel(name) not in value or not _fits(part, hint, allowed.get(name)):
            return None
        read_parts[name] = _tuples(part)
    return kind(**read_parts)


def hear(
    then: Callable[[Read], object],
    kind: type[Read],
    about: Mapping[str, object] = MappingProxyType({}),
    **allowed: Container[Any],
) -> Callable[[object], None]:
    """What a component does with an answer: calls `then` with what `read` makes of it, unless that is None."""

    def take(value: object) -> None:
        if (heard := read(kind, value, about, **allowed)) is not None:
            then(heard)

    return take


def _tuples(part: object) -> object:
    return tuple(map(_tuples, part)) if isinstance(part, list) else part


def _fits(part: object, hint: object, allowed: Container[Any] | None) -> bool:
    origin, given = get_origin(hint), get_args(hint)
    if origin is Annotated:
        own = next((mark for mark in given[1:] if hasattr(mark, "__contains__")), None)
        return _fits(part, given[0], own if allowed is None else allowed)
    if origin in (Union, UnionType):
        return any(part is None if arm is NoneType else _fits(part, arm, allowed) for arm in given)
    if origin is Literal:
        return isinstance(part, str) and part in (given if allowed is None else allowed)
    if origin is tuple:
        if not isinstance(part, list):
            return False
        hints = [given[0]] * len(part) if Ellipsis in given else given
        return len(part) == len(hints) and all(map(_fits, part, hints, repeat(allowed)))
    assert hint is bool or allowed is not None, f"the values that a field of type {hint} may have must be said"
    # A boolean is an int to Python, but no number.
    return type(part) is hint and (hint is bool or part in allowed)  # type: ignore[operator]
