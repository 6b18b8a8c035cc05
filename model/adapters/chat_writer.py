"""Read texts as chats, and write as the assistant: a decoder-only model behind its chat template."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from model.adapters import chat_template
from model.adapters.library_tokenizer import Encoded
from model.adapters.text_writer import TextWriter
from model.input_text import check_not_blank
from model.messages import said
from model.nn.edit_hooks import Edits
from model.trace.trace import Trace
from model.word_choice import TokenPlace, WordChoice, first_difference

ASSISTANT: Final = "assistant"
_NO_OFFSETS: Final = said("its tokenizer does not report which characters belong to a token")
_CHANGED: Final = said("its chat template does not only join the messages")


@dataclass(frozen=True)
class Chat:
    """A chat as the model reads it."""

    text: str  #: what the template makes of the messages
    encoded: Encoded  #: its tokens, as `apply_chat_template(tokenize=True)` gives them
    roles: tuple[str, ...]  #: of each token, "" for what the template wrote; empty where that is not known
    why_no_roles: str  #: why it is not known, as a part of a sentence; "" where it is
    #: the characters of the text that are of a message, where the roles are known.
    spans: tuple[chat_template.Span, ...] = ()


class ChatWriter(TextWriter):
    """A `TextWriter` that reads every text as a chat; safe to share between threads as well.

    A text is read as `chat_template.read_messages` says; one without roles is one message of the user. What is written
    is of the assistant.
    """

    @classmethod
    def of(cls, writer: TextWriter) -> Self:
        """The same model, sharing its weights. Raises an InputTextError if no chat template can be used."""
        made = cls(writer.model, writer.pieces, writer.layout, writer.abilities, name=writer.name, digest=writer.digest)
        made.caches = writer.caches
        chat_template.chosen_template(made.pieces.chat_template)
        return made

    @property
    def key(self) -> str:
        """Names this content, as it reads: what is kept of the same texts without a template is not the same."""
        return f"{super().key}/chat"

    def chat(self, text: str) -> Chat:
        """A text as a chat, of any length. Raises an InputTextError if it is blank or the template fails."""
        check_not_blank(text, said("The text"))
        return self.chat_of(chat_template.read_messages(text))

    def chat_of(self, messages: Sequence[chat_template.Message]) -> Chat:
        """Messages as the model reads them. Raises as `chat`."""
        chat_template.check_messages(messages)
        template = chat_template.chosen_template(self.pieces.chat_template)
        made = chat_template.rendered(template, messages, self.pieces.template_variables)
        encoded = self.checked_tokens(made.text, said("The chat"), self.abilities.max_length, with_special=False)
        offsets = self.pieces.offsets(made.text, with_special=False)
        if offsets is None:
            return Chat(made.text, encoded, (), _NO_OFFSETS)
        spans = chat_template.spans_of(made.text, made.with_marks, messages)
        if spans is None:
            return Chat(made.text, encoded, (), _CHANGED)
        return Chat(made.text, encoded, chat_template.roles_of(spans, offsets), "", spans)

    def source(self, text: str) -> Encoded:
        """The tokens of a text as a chat, checked. Raises as `chat`, and where they are too many."""
        return self.chat(text).encoded

    def source_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """As `TextTracer.source_offsets` says: of a token of the template's own (0, 0)."""
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

    def trace_messages(self, messages: Sequence[chat_template.Message]) -> Trace:
        """The trace of a chat, whose text is what the template made. Raises as `chat_of`, and if it is too long."""
        chat = self.chat_of(messages)
        return replace(super().trace_rows(chat.text, chat.encoded.ids, ()), roles=chat.roles)

    def trace_rows(
        self,
        text: str,
        source_ids: Sequence[int],
        emitted: Sequence[int],
        *,
        begin: int | None = None,
        keep_outputs: bool = False,
        edits: Edits | None = None,
    ) -> Trace:
        """As `TextTracer.trace_rows`, with the role of each token: what was written is of the assistant."""
        trace = super().trace_rows(text, source_ids, emitted, begin=begin, keep_outputs=keep_outputs, edits=edits)
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
