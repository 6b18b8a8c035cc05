"""Read a text as the messages of a chat behind a model's template, tell whose each character is, write as assistant.

A template is a program of unknown origin. It is run in a separate process with limits on time and memory: the library
runs it in a sandbox, where it reaches nothing, but may still take all time and memory.
"""

import hashlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from model.adapters.base_reader import Opened
from model.adapters.library_tokenizer import Encoded
from model.adapters.limited_process import answer_of
from model.adapters.text_tracer import Pass
from model.adapters.text_writer import TextWriter
from model.errors import InputTextError, said
from model.errors import Message as Said
from model.input_text import check_not_blank
from model.nn.edit_hooks import Edits
from model.trace.axes import ROLES
from model.trace.trace import Trace
from model.word_choice import TokenPlace, WordChoice, first_difference

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
    content of a message is not part of it.
    """
    begins = list(_BEGINS.finditer(text))
    ends = [*(match.start() for match in begins[1:]), len(text)]
    first = text[: begins[0].start()] if begins else text
    messages = [Message("user", first.strip())] if first.strip() or not begins else []
    for match, end in zip(begins, ends, strict=False):
        messages.append(Message(match["role"].lower(), text[match.end() : end].strip()))
    return tuple(messages)


def check_messages(messages: Sequence[Message]) -> None:
    """Make sure that messages are some, and of roles that there are. Raises an InputTextError if they are not."""
    if not any(message.content.strip() for message in messages):
        raise InputTextError("The chat is empty. Type a message, for example “user: Which animal is tired?”")
    if unknown := [message.role for message in messages if message.role not in ROLES]:
        raise InputTextError(
            "“{role}” is not a role in a chat. The roles are {roles}.", role=unknown[0][:40], roles=", ".join(ROLES)
        )


def marked(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages, each content but an empty one replaced by a mark that says which it is."""
    return tuple(
        Message(message.role, _mark(number)) if message.content.strip() else message
        for number, message in enumerate(messages)
    )


def spans_of(rendered: str, with_marks: str, messages: Sequence[Message]) -> tuple[Span, ...] | None:
    """Which characters of a rendered chat are of which message; None where that is not known for sure.

    It is known where the chat comes out when every mark of `with_marks` (what the template makes of `marked(messages)`)
    is replaced by its content, as it is or without white space at its ends.
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


#: Digest of a template and its chat, which may be private → what came of them.
_known: Final[dict[bytes, Rendered | Said]] = {}


def chosen_template(value: object) -> str:
    """The template that the library takes without being told another: the only one, or that named "default".

    Raises an InputTextError if there is none, it is not text, or too long. `value` is a tokenizer's `chat_template`.
    """
    if isinstance(value, Mapping):
        if "default" not in value:
            names = ", ".join(str(name)[:40] for name in list(value)[:5])
            raise _refusal(said("This model has chat templates named {names}, and none named default.", names=names))
        value = value["default"]
    if value is None:
        raise _refusal(said("This model has no chat template."))
    if not isinstance(value, str):
        raise _refusal(said("The chat template of this model is not text."))
    if len(value) > LONGEST_TEMPLATE:
        message = "The chat template of this model has {length:,} characters; at most {most:,} are allowed."
        raise _refusal(said(message, length=len(value), most=LONGEST_TEMPLATE))
    return value


def rendered(template: str, messages: Sequence[Message], variables: Mapping[str, object]) -> Rendered:
    """What a template of `chosen_template` makes of a chat (not none), once for the same chat.

    The last message of an assistant is left open, so that a model goes on with it; after any other, the template begins
    the assistant's message. Raises an InputTextError if it refuses the chat, fails, takes too long or too much memory,
    or makes too long a text. `variables` are what the template sees besides.
    """
    asked = {
        "template": template,
        "chats": [as_fields(messages), as_fields(marked(messages))],
        "variables": dict(variables),
        "goes_on": messages[-1].role == "assistant",
        "longest": LONGEST,
    }
    content = json.dumps(asked).encode()
    digest = hashlib.sha256(content).digest()
    if (found := _known.get(digest)) is None:
        found = _known[digest] = _outcome(content)
        while len(_known) > MAX_REMEMBERED:
            _known.pop(next(iter(_known)), None)
    if isinstance(found, Said):
        raise _refusal(found)
    return found


def _refusal(why: Said) -> InputTextError:
    """The error of a chat that cannot be rendered, by a sentence that says why."""
    message = "{why} Change the messages, or switch “As a chat” off to read the text without the template."
    return InputTextError(message, why=why)


def _outcome(asked: bytes) -> Rendered | Said:
    """What the process answers; as a sentence, what is wrong."""
    program = f"{__package__}.chat_template_process"
    try:
        answer = answer_of(program, [], asked, seconds=SECONDS, memory=MEMORY, patience=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise InputTextError(
            "The chat template was not rendered within {patience} seconds. Try again when this machine is less busy.",
            patience=PATIENCE,
        ) from error
    match answer:
        case {"texts": [str(text), str(with_marks)]}:
            return Rendered(text, with_marks)
        case {"says": str(words)}:
            return said("The chat template of this model rejects this chat: “{words}”.", words=words)
        case {"wrong": str(wrong)}:
            return said("The chat template of this model cannot be used for this chat: {wrong}.", wrong=wrong)
    message = (
        "The chat template of this model takes more than {seconds} seconds or {memory:.3g} GB, or crashes the process "
        "that renders it."
    )
    return said(message, seconds=SECONDS, memory=MEMORY / 2**30)


ASSISTANT: Final = "assistant"
_NO_OFFSETS: Final = said("its tokenizer does not report which characters belong to a token")
_CHANGED: Final = said("its chat template does more than join the messages")


@dataclass(frozen=True)
class Chat:
    """A chat as the model reads it."""

    text: str  #: what the template makes of the messages
    encoded: Encoded  #: its tokens, as `apply_chat_template(tokenize=True)` gives them
    roles: tuple[str, ...]  #: of each token, "" for what the template wrote; empty where that is not known
    why_no_roles: str  #: why it is not known, as a part of a sentence; "" where it is
    #: the characters of the text that are of a message, where the roles are known.
    spans: tuple[Span, ...] = ()


class ChatWriter(TextWriter):
    """A `TextWriter` that reads every text as a chat; safe to share between threads as well.

    A text is read as `read_messages` says; one without roles is one message of the user. What is written
    is of the assistant.
    """

    @classmethod
    def of(cls, writer: TextWriter) -> Self:
        """The same model, sharing its weights. Raises an InputTextError if no chat template can be used."""
        opened = Opened(writer.model, writer.layout, writer.abilities, writer.name, writer.digest)
        made = cls(opened, writer.pieces)
        made.caches = writer.caches
        chosen_template(made.pieces.chat_template)
        return made

    @property
    def key(self) -> str:
        """Names this content, as it reads: what is kept of the same texts without a template is not the same."""
        return f"{super().key}/chat"

    def chat(self, text: str) -> Chat:
        """A text as a chat, of any length. Raises an InputTextError if it is blank or the template fails."""
        check_not_blank(text, said("The text"))
        return self.chat_of(read_messages(text))

    def chat_of(self, messages: Sequence[Message]) -> Chat:
        """Messages as the model reads them. Raises as `chat`."""
        check_messages(messages)
        template = chosen_template(self.pieces.chat_template)
        made = rendered(template, messages, self.pieces.template_variables)
        encoded = self.checked_tokens(made.text, said("The chat"), self.abilities.max_length, with_special=False)
        offsets = self.pieces.offsets(made.text, with_special=False)
        if offsets is None:
            return Chat(made.text, encoded, (), _NO_OFFSETS)
        spans = spans_of(made.text, made.with_marks, messages)
        if spans is None:
            return Chat(made.text, encoded, (), _CHANGED)
        return Chat(made.text, encoded, roles_of(spans, offsets), "", spans)

    def source(self, text: str) -> Encoded:
        """The tokens of a text as a chat, checked. Raises as `chat`, and where they are too many."""
        return self.chat(text).encoded

    def source_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """See `TextTracer.source_offsets`: of a token of the template's own (0, 0)."""
        chat = self.chat(text)
        offsets = self.pieces.offsets(chat.text, with_special=False)
        if offsets is None or not chat.roles:
            return None
        at, moved = 0, []
        for span in chat.spans:
            begin = text.find(chat.text[span.begin : span.end], at)
            if begin >= 0:
                moved.append((span, begin - span.begin))
                at = begin + span.end - span.begin
        return [
            next(
                (
                    (max(begin, span.begin) + by, min(end, span.end) + by)
                    for span, by in moved
                    if span.begin < end and begin < span.end
                ),
                (0, 0),
            )
            for begin, end in offsets
        ]

    def trace_messages(self, messages: Sequence[Message]) -> Trace:
        """The trace of a chat, whose text is what the template made. Raises as `chat_of`, and if it is too long."""
        chat = self.chat_of(messages)
        return replace(super().trace_rows(chat.text, chat.encoded.ids, ()), roles=chat.roles)

    def trace_rows(
        self,
        text: str,
        source_ids: Sequence[int],
        emitted: Sequence[int],
        *,
        begin: Sequence[int] = (),
        keep_outputs: bool = False,
        edits: Edits | None = None,
        passed: Pass | None = None,
    ) -> Trace:
        """As `TextTracer.trace_rows`, with the role of each token: what was written is of the assistant."""
        trace = super().trace_rows(
            text, source_ids, emitted, begin=begin, keep_outputs=keep_outputs, edits=edits, passed=passed
        )
        # A place where a word is said has no text.
        chat = self.chat(text) if text.strip() else None
        if chat is None or not chat.roles or chat.encoded.ids != tuple(source_ids):
            return trace
        return replace(trace, roles=(*chat.roles, *[ASSISTANT] * len(emitted)))

    def word_choice(self, text: str, right: str, wrong: str) -> WordChoice:
        """The first token in which two answers differ. Raises as `source`, or an InputTextError if none does."""
        before = self.source(text).ids
        said = [(*before, *self.pieces.encode(word, with_special=False).ids) for word in (right, wrong)]
        row, common, *chosen = first_difference(*said)
        return WordChoice(TokenPlace((), common, row - 1), *chosen)
