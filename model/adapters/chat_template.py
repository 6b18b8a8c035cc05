"""Render a chat with the template of a model, in a process of its own with limits on time and memory.

A template is a program of unknown origin. The library runs it in a sandbox, where it reaches nothing, but may still
take all time and memory.
"""

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from model.adapters.chat_messages import Message, as_fields, marked
from model.adapters.limited_process import answer_of
from model.errors import InputTextError
from model.messages import Message as Said
from model.messages import said

#: Seconds of computing, of which the process itself takes half a one, and bytes of memory.
SECONDS: Final = 5
MEMORY: Final = 1 << 30
#: Seconds by the clock; a machine that has much else to do is slow.
PATIENCE: Final = 60
#: Characters of a template, and of what it makes of a chat.
LONGEST_TEMPLATE: Final = 200_000
LONGEST: Final = 200_000
MAX_REMEMBERED: Final = 32


@dataclass(frozen=True)
class Rendered:
    """What a template made of a chat, and what it makes of the chat when marks stand for the contents."""

    text: str
    with_marks: str


#: Digest of the template and the messages → what came of them, or what is wrong.
_known: Final[dict[str, Rendered | Said]] = {}


def chosen_template(value: object) -> str:
    """The template that the library takes without being told another: the only one, or that named "default".

    Args:
        value: a tokenizer's `chat_template`.

    Raises:
        InputTextError: there is none, it is no text, or too long.
    """
    if isinstance(value, Mapping):
        if "default" not in value:
            names = ", ".join(str(name)[:40] for name in list(value)[:5])
            raise _refusal(said("This model has chat templates named {names}, and none named default.", names=names))
        value = value["default"]
    if value is None:
        raise _refusal(said("This model has no chat template."))
    if not isinstance(value, str):
        raise _refusal(said("The chat template of this model is no text."))
    if len(value) > LONGEST_TEMPLATE:
        raise _refusal(
            said(
                "The chat template of this model has {length:,} characters; at most {most:,} are run.",
                length=len(value),
                most=LONGEST_TEMPLATE,
            )
        )
    return value


def rendered(template: str, messages: Sequence[Message], variables: Mapping[str, object]) -> Rendered:
    """What a template makes of a chat, once for the same chat.

    The last message of an assistant is left open, so that a model goes on with it; after any other, the template begins
    the assistant's message.

    Args:
        template: of `chosen_template`.
        messages: not none.
        variables: what the template sees beside them.

    Raises:
        InputTextError: it refuses the chat, fails, takes too long or too much memory, or makes too long a text.
    """
    asked = {
        "template": template,
        "chats": [as_fields(messages), as_fields(marked(messages))],
        "variables": dict(variables),
        "goes_on": messages[-1].role == "assistant",
        "longest": LONGEST,
    }
    content = json.dumps(asked).encode()
    digest = hashlib.sha256(content).hexdigest()
    known = _known.get(digest)
    if known is None:
        known = _outcome(content)
        while len(_known) >= MAX_REMEMBERED:
            _known.pop(next(iter(_known)), None)
        _known[digest] = known
    if isinstance(known, Said):
        raise _refusal(known)
    return known


def _refusal(why: Said) -> InputTextError:
    """The error of a chat that cannot be rendered, by a sentence that says why."""
    return InputTextError(
        "{why} Change the messages, or read the text without the template (“As a chat” off).", why=why
    )


def _outcome(asked: bytes) -> Rendered | Said:
    """What the process answers; as a sentence, what is wrong."""
    program = f"{__package__}.chat_template_process"
    try:
        answer = answer_of(program, [], asked, seconds=SECONDS, memory=MEMORY, patience=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise InputTextError(
            "The chat template was not rendered after {patience} seconds. Try again when this machine has less to do.",
            patience=PATIENCE,
        ) from error
    match answer:
        case {"texts": [str(text), str(with_marks)]}:
            return Rendered(_whole(text), _whole(with_marks))
        case {"says": str(words)}:
            return said("The chat template of this model refuses this chat: “{words}”.", words=_whole(words))
        case {"wrong": str(wrong)}:
            return said("The chat template of this model cannot be used on this chat: {wrong}.", wrong=_whole(wrong))
    return said(
        "The chat template of this model takes more than {seconds} seconds or {memory:.3g} GB, or ends the process "
        "that renders it.",
        seconds=SECONDS,
        memory=MEMORY / 2**30,
    )


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which JSON can spell and a tokenizer cannot read."""
    return text.encode("utf-8", errors="replace").decode()
