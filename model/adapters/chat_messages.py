"""Read a text as the messages of a chat, and find in what a template makes of them which characters are of which."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from model.errors import InputTextError
from model.trace.roles import ROLES

_BEGINS: Final = re.compile(rf"^(?P<role>{'|'.join(ROLES)}):", re.IGNORECASE | re.MULTILINE)
#: Signs of the private-use area, which no text has, around a number in such signs.
_OPENS, _CLOSES, _ZERO = "\ue000", "\ue001", 0xE010
_MARK: Final = re.compile(f"{_OPENS}([{chr(_ZERO)}-{chr(_ZERO + 9)}]{{1,6}}){_CLOSES}")


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said: `role` is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Span:
    """The characters [begin, end) of a rendered chat that are of a message of this role."""

    begin: int
    end: int
    role: str


def read_messages(text: str) -> tuple[Message, ...]:
    """The messages of a text in which lines that begin with `system:`, `user:` or `assistant:` each begin one.

    What stands before the first such line, or a text without any, is a message of the user. White space around the
    content of a message is no part of it.
    """
    begins = list(_BEGINS.finditer(text))
    ends = [*(match.start() for match in begins[1:]), len(text)]
    first = text[: begins[0].start()] if begins else text
    said = [Message("user", first.strip())] if first.strip() or not begins else []
    for match, end in zip(begins, ends, strict=False):
        said.append(Message(match["role"].lower(), text[match.end() : end].strip()))
    return tuple(said)


def check_messages(messages: Sequence[Message]) -> None:
    """Make sure that messages are some, and of roles that there are.

    Raises:
        InputTextError: they are not.
    """
    if not any(message.content.strip() for message in messages):
        raise InputTextError("The chat is empty. Type a message, for example “user: Which animal is tired?”")
    if unknown := [message.role for message in messages if message.role not in ROLES]:
        raise InputTextError(
            "“{role}” is no role of a chat. Roles are {roles}.", role=unknown[0][:40], roles=", ".join(ROLES)
        )


def marked(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages, each content but an empty one replaced by a mark that says which it is."""
    return tuple(
        Message(message.role, _mark(number)) if message.content.strip() else message
        for number, message in enumerate(messages)
    )


def spans_of(rendered: str, with_marks: str, messages: Sequence[Message]) -> tuple[Span, ...] | None:
    """Which characters of a rendered chat are of which message; None where that is not known for sure.

    It is known where the chat comes out when every mark is replaced by its content, as it is or without white space at
    its ends.

    Args:
        rendered: what the template makes of the messages.
        with_marks: what it makes of `marked(messages)`.
        messages: of the chat.
    """
    own, *rest = _MARK.split(with_marks)
    if not rendered.startswith(own):
        return None
    at, spans = len(own), []
    for signs, following in zip(rest[::2], rest[1::2], strict=True):
        number = _number(signs)
        message = messages[number] if number < len(messages) else Message("", "")
        contents = _as_templates_have_it(message.content)
        content = next((one for one in contents if rendered.startswith(one + following, at)), None)
        if content is None:
            return None
        spans.append(Span(at, at + len(content), message.role))
        at += len(content) + len(following)
    return tuple(spans) if at == len(rendered) else None


def roles_of(spans: Sequence[Span], offsets: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The role of each token by its characters: that of the first message of which it has any; else ""."""
    return tuple(
        next((span.role for span in spans if span.begin < end and begin < span.end), "") for begin, end in offsets
    )


def as_fields(messages: Sequence[Message]) -> list[Mapping[str, str]]:
    """Messages as the library takes them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def _as_templates_have_it(content: str) -> dict[str, None]:
    """The content as it is, and without white space at its ends."""
    return dict.fromkeys((content, content.strip(), content.lstrip(), content.rstrip()))


def _mark(number: int) -> str:
    return _OPENS + "".join(chr(_ZERO + int(digit)) for digit in str(number)) + _CLOSES


def _number(signs: str) -> int:
    return int("".join(str(ord(sign) - _ZERO) for sign in signs))
