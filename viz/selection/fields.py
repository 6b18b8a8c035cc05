"""Describe one choice of the selection: its name in an address, its limits, and which other choices reset it.

A field says this in its type, as `Annotated[int, Param("beam"), ResetBy("text")]`; nothing else lists the fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Final, Literal, get_args, get_origin, get_type_hints

#: A longer value stays in the session but not in the address: servers refuse very long addresses.
MAX_TEXT_IN_URL: Final = 2_000


@dataclass(frozen=True, slots=True)
class Param:
    """The name of a field in an address, where that is not the field's own: names in addresses never change."""

    name: str


@dataclass(frozen=True, slots=True)
class MaxLength:
    """The most characters that an address may give a text."""

    characters: int


@dataclass(frozen=True, slots=True)
class OneOf:
    """The texts that the field can be, where a table says so and not its type."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a text, or numbers as an address writes them, look like there; all else stays in the session."""

    pattern: str


@dataclass(frozen=True, slots=True)
class SessionOnly:
    """The field is in no address and stays in the session."""


@dataclass(frozen=True, slots=True)
class OnlyWith:
    """The field is in addresses only where another one has this value; elsewhere the session keeps it."""

    field: str
    value: object


@dataclass(frozen=True, slots=True, init=False)
class ShownOn:
    """Of a choice that pages share, those whose addresses carry it, by their sections; without this, all pages."""

    pages: tuple[str, ...]

    def __init__(self, *pages: str) -> None:
        object.__setattr__(self, "pages", pages)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A page proposes the value until a person chooses one; the field with this name says whether one has.

    What is proposed is in no address. Fields with one such field are chosen together.
    """

    chosen: str


@dataclass(frozen=True, slots=True, init=False)
class ResetBy:
    """The fields after whose change by a person this one becomes its default again."""

    fields: frozenset[str]
    only: object  #: the one value that does not hold any more then; None for every value

    def __init__(self, *fields: str, only: object = None) -> None:
        object.__setattr__(self, "fields", frozenset(fields))
        object.__setattr__(self, "only", only)


@dataclass(frozen=True, slots=True)
class Field:
    """A choice of the selection."""

    section: str  #: the field of `Selection` that holds it
    name: str  #: its name there, unlike that of any other choice
    param: str  #: its name in an address
    kind: object  #: its type, without what is annotated
    default: object  #: its value where nothing was chosen
    in_address: bool  #: whether addresses carry it at all
    max_length: int | None  #: the most characters that an address may give it; None for no limit of its own
    reset_by: frozenset[str]  #: the fields after whose change it becomes its default again
    reset_only: object  #: the one value that does so; None for every value
    chosen_in: str = ""  #: the field that says whether a person has chosen it; "" where no page proposes its value
    #: the field, and its value, with which alone addresses carry this one; None for always.
    only_with: tuple[str, object] | None = None
    options: tuple[str, ...] = ()  #: the values that it can have, where they can be listed
    shape: str = ""  #: a pattern of what an address may hold; "" for anything
    shown_on: tuple[str, ...] = ()  #: of a choice that pages share, the sections of those that show it; none for all

    def can_be(self, value: object) -> bool:
        """Whether it can have a value at all; a number that it can have may still name nothing that exists."""
        if self.options:
            return isinstance(value, str) and value in self.options
        if isinstance(value, tuple):
            kinds = get_args(self.kind) if get_origin(self.kind) is tuple else ()
            return bool(kinds) and all(_is_plain(part, kinds[0]) for part in value)
        kinds = get_args(self.kind) or (self.kind,)
        return any(_is_plain(value, kind) for kind in kinds)


def fields_of(selection: type) -> Mapping[str, Field]:
    """Name → field, of every section. Raises a TypeError if two fields have one name, or one in an address."""
    known: dict[str, Field] = {}
    for section, owner in get_type_hints(selection).items():
        hints = get_type_hints(owner, include_extras=True)
        for field in fields(owner):
            if field.name in known:
                raise TypeError(f"two sections have a field {field.name!r}")
            known[field.name] = _field(section, field.name, hints[field.name], field.default)
    if len({field.param for field in known.values()}) < len(known):
        raise TypeError("two fields have one name in addresses")
    return known


def _is_plain(value: object, kind: object) -> bool:
    """Whether a value is of exactly this type; a number counts from 0, and True is none."""
    return type(value) is kind and not (isinstance(value, int) and value < 0)


def _field(section: str, name: str, hint: object, default: object) -> Field:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    options = get_args(kind) if get_origin(kind) is Literal else ()
    return Field(
        section=section,
        name=name,
        param=next((note.name for note in notes if isinstance(note, Param)), name),
        kind=kind,
        default=default,
        in_address=not any(isinstance(note, SessionOnly) for note in notes),
        max_length=next((note.characters for note in notes if isinstance(note, MaxLength)), None),
        reset_only=next((note.only for note in notes if isinstance(note, ResetBy)), None),
        reset_by=frozenset().union(*(note.fields for note in notes if isinstance(note, ResetBy))),
        only_with=next(((note.field, note.value) for note in notes if isinstance(note, OnlyWith)), None),
        options=next((note.options for note in notes if isinstance(note, OneOf)), options),
        shape=next((note.pattern for note in notes if isinstance(note, Shape)), ""),
        shown_on=next((note.pages for note in notes if isinstance(note, ShownOn)), ()),
        chosen_in=next((note.chosen for note in notes if isinstance(note, Proposed)), ""),
    )
