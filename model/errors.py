"""Sentences for people that know how they were made, and every error that a person's input can cause.

HeadlightError
├── InputTextError     the text is empty, or too long for the model
├── TokenError         a token that the vocabulary does not hold
├── CheckpointError    a checkpoint folder is missing, damaged or of another form
├── ConfigError        a setting is out of range or does not fit another one
├── DataError          a data file cannot be read as what it should be
├── DeviceError        a device does not exist
├── MemoryShortError   the memory of the machine, or of its GPU, does not suffice
├── ClusterError       other processes that were to compute cannot be reached, or failed
├── SessionError       a decoding session cannot step further, or back
├── EditError          an edit of attention names something that does not exist, or that the mask forbids
├── TraceError         a trace has no such site, layer, head or row, or its file is damaged
└── CancelledError     the person stopped a long computation
    └── TimeLimitError it took longer than a shared server allows

A message says what was expected, what came and what to do; the command line shows it as it is, pages in the language
that is read: `raise DataError("{name} is empty.", name=path.name)` gives them the template and its values.
Mistakes of a programmer (a wrong type, a tensor of the wrong shape) stay ordinary Python errors.

A page can say a sentence in another language:

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


class HeadlightError(Exception):
    """Base of all errors whose message is written for the person at the screen.

    `text` is the sentence, or its template with names for the values; a `Message` may have names left for them.
    """

    def __init__(self, text: str = "", /, **values: object) -> None:
        if not isinstance(text, Message):
            self.message = said(text, **values)
        else:
            self.message = said(text.template, **text.values, **values) if values else text
        super().__init__(self.message)


class InputTextError(HeadlightError):
    """The text is empty, or longer than the model can read."""


class TokenError(HeadlightError):
    """A token or token id that the vocabulary does not hold."""


class CheckpointError(HeadlightError):
    """A checkpoint folder is missing, damaged or of another form."""


class ConfigError(HeadlightError):
    """A setting is out of range, or two settings contradict each other."""


class DataError(HeadlightError):
    """A data file is missing or malformed."""


class DeviceError(HeadlightError):
    """A device does not exist on this machine."""


class MemoryShortError(HeadlightError):
    """The memory of the machine, or of its GPU, does not suffice."""


class ClusterError(HeadlightError):
    """Other processes or machines that were to compute cannot be reached, or failed."""


class SessionError(HeadlightError):
    """A decoding session cannot step further, or back."""


class EditError(HeadlightError):
    """An edit of attention names a site, layer, head, row or key that does not exist, or that the mask forbids."""


class TraceError(HeadlightError):
    """A trace has no such site, layer, head or row, or its file is damaged."""


class CancelledError(HeadlightError):
    """The person at the screen stopped a long computation; nothing of it is kept."""


class TimeLimitError(CancelledError):
    """A computation took longer than a server that many share allows; nothing of it is kept."""


def memory_short(error: Exception) -> MemoryShortError | None:
    """What a person can do where an error says that there is no memory left; None of any other error."""
    # By their names: torch may not be imported here, and its allocator of the CPU raises no class of its own.
    is_torch = type(error).__name__ == "OutOfMemoryError" or "DefaultCPUAllocator" in str(error)
    if not (isinstance(error, MemoryError) or is_torch):
        return None
    return MemoryShortError(
        "There is not enough memory for this. Choose a shorter text or a smaller model, or compute on the CPU."
    )
