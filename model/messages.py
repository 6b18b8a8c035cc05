"""Sentences for people, in English, that know how they were made: so a page can say them in another language.

    said("{name} holds {count:,} lines.", name=path.name, count=lines)

is the English sentence, a `str` like any other, with the template and the values beside it. Templates are literals
and whole sentences: `python -m viz.locale` finds them in the source, and translators see nothing else. Values are
data: names, numbers, or other messages. `model` knows no other language.
"""

from collections.abc import Mapping
from typing import Self


class Message(str):
    """An English sentence with the template and the values that it was made of."""

    template: str  #: the sentence with names in braces, as `str.format` reads them
    many: str  #: the template for any number but one; "" where the sentence counts nothing
    values: Mapping[str, object]  #: what stands for the names. Without any, braces in the template are braces.

    def __new__(cls, template: str, values: Mapping[str, object], many: str = "") -> Self:
        """Raises a KeyError where the template has a name without a value."""
        chosen = many if many and values["count"] != 1 else template
        made = super().__new__(cls, chosen.format(**values) if values else chosen)
        made.template, made.many, made.values = template, many, values
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, object], str]:  # type: ignore[override]
        """What a copy is made of."""
        return self.template, self.values, self.many


def said(template: str, /, **values: object) -> Message:
    """A sentence to be shown later, in whichever language is read then: a constant, an error, what a cache keeps."""
    return Message(template, values)


def said_plural(one: str, many: str, count: int, /, **values: object) -> Message:
    """As `said`, of a number: `one` for 1, `many` for all others; both may name it as `{count}`."""
    return Message(one, {"count": count, **values}, many)
