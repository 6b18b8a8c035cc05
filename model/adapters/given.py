"""Read a picture or a sound that a person gives in place of a text, with models of `transformers`: what they have in
common, whether they write about it or only read it.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, Self

import torch
from torch import Tensor

from model.abilities import NOT_AS_THE_PAPER, Abilities, View
from model.adapters import library
from model.adapters.base_reader import BaseReader
from model.adapters.capture import head_edits
from model.adapters.folder_check import Folder
from model.adapters.layout import OUTPUTS, weights_of
from model.adapters.library_parts import LibraryParts
from model.adapters.library_tokenizer import Encoded
from model.adapters.text_writer import TextWriter
from model.errors import InputTextError, Message, TraceError, said
from model.languages import NOTHING_OFFERED, Offered
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.parts.parts import Parts
from model.parts.weights import Stack
from model.sources.source import Source
from model.trace.trace import Trace

#: What is not shown of a model that writes about what it is given.
LACKS: Final[Mapping[View, str]] = {
    "circuits": said("QK and OV are computed only for tokens of a text; the encoder of this model reads none."),
    "positional encodings": said("The encoder of this model reads no text, so it has no embeddings of tokens."),
    "embeddings": said("The encoder of this model reads no text, so it has no embeddings of tokens."),
    "batch masks": said("A padded batch consists of sentences; this model reads no text."),
    "switches": said("Parts can be removed only from a model that translates sentences; this model reads no text."),
    "alignment links": said("Manual word alignments exist only for sentences; this model reads no text."),
    "hyperparameters": NOT_AS_THE_PAPER,
}
#: The same of one whose encoder attends within windows of a picture.
WINDOWS: Final = said(
    "The encoder of this model attends within windows of the picture, which are not shown, so no token can be "
    "followed through its layers."
)


class Opening(NamedTuple):
    """How models are opened that read pictures, or sounds."""

    sense: Callable[[Folder, Any, Any], Any]  #: what a model in a folder reads them by, proven, by model and settings
    #: reader, writer: one that only reads, and one that writes about them.
    reader: Callable[..., "EncoderReader"]
    writer: Callable[..., "GivenWriter"]
    #: part of the name of an input → what is said of a model that can be given it together with other input
    mixed: Mapping[str, Message] = MappingProxyType({})


class Given(ABC):
    """A picture or a sound, as a model reads it.

    `key` names it among others; `numbers` is what the model's encoder is given.
    """

    def __init__(self, model: Any, name: str, key: str) -> None:
        self.model, self.name, self.key = model, name, f"/{name}/{key}"

    @property
    @abstractmethod
    def numbers(self) -> Mapping[str, Tensor]:
        """Raises an InputTextError if the model cannot read it."""

    @property
    @abstractmethod
    def source(self) -> Source:
        """What a trace keeps of it. Raises as `numbers`."""

    @contextmanager
    def read_by_model(self) -> Iterator[None]:
        """Around a run of the model over it; raises an InputTextError if it does not read one of this shape."""
        yield

    @cached_property
    def encoded(self) -> Any:
        """What the encoder makes of it, in a run of its own: who listens to another one does not hear or edit it."""
        numbers = self.numbers
        with torch.inference_mode(), self.read_by_model():
            return Context().run(lambda: library.encoded(self.model, numbers))

    def read(self, ids: Sequence[int], copies: int) -> dict[str, Any]:
        """The arguments with which the model reads all of it; or, of a part of its positions, what they became."""
        if tuple(ids) == self.source.ids:
            return {name: _copied(value, copies) for name, value in self.numbers.items()}
        return self.memory(ids, copies)

    def memory(self, ids: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """The arguments with which a decoder attends to these positions; beyond the last, from the first on again."""
        rows = self.encoded.last_hidden_state
        chosen = [each % rows.size(1) for each in ids]
        given: dict[str, Any] = {
            "encoder_outputs": type(self.encoded)(last_hidden_state=_copied(rows[:, chosen], copies))
        }
        # Which of its positions are padding.
        if (mask := self.numbers.get("attention_mask")) is not None and mask.size(1) == rows.size(1):
            given["attention_mask"] = _copied(mask[:, chosen], copies)
        return given


def _copied(value: Tensor, copies: int) -> Tensor:
    return value.expand(copies, *[-1] * (value.dim() - 1))


class GivenReader(BaseReader, ABC):
    """A reader that reads what it is given, whatever the text."""

    #: none_given, another_given: what is said where nothing was given, and of a trace of something else.
    none_given: ClassVar[Message]
    another_given: ClassVar[Message]
    content: Given | None = None

    @abstractmethod
    def perceived(self, name: str, content: Any) -> Given:
        """What is given, as the model reads it. Raises an InputTextError if it is nothing of this kind."""

    @abstractmethod
    def opened(self, path: Path) -> Any:
        """What is in a file. Raises an InputTextError if it is nothing of this kind."""

    @property
    @abstractmethod
    def probing(self) -> Any:
        """What is read where nothing was given and any content does."""

    @property
    def key(self) -> str:
        """Names this content, and what is read whatever the text."""
        return super().key + ("" if self.content is None else self.content.key)

    def reading(self, name: str, content: Any) -> Self:
        """See `model.reader.Reader`."""
        return self.holding(self.perceived(name, content))

    def holding(self, given: Given) -> Self:
        """The same reader, which reads this whatever the text."""
        made = copy.copy(self)
        made.content = given
        return made

    def trying(self) -> Self:
        """The same reader, but inside a probe's `few` it reads what the probe tries."""
        return self.reading("", self.probing)

    def of_file(self, path: str) -> Self:
        """The same reader; where nothing is given it reads this file. Raises as `opened`."""
        return self if self.content is not None else self.reading(Path(path).name, self.opened(Path(path)))

    def given(self) -> Given:
        """What is read. Raises an InputTextError if there is nothing, or the model cannot read it."""
        if self.content is None:
            raise InputTextError(self.none_given)
        return self.content


@dataclass(frozen=True, eq=False)
class EncoderParts(Parts):
    """What is known of an encoder alone: nothing, but why."""

    abilities: Abilities
    why = said("The encoder of this model reads no tokens; its heads are on the Attention page.")


class EncoderReader(GivenReader):
    """A loaded model of `transformers` that reads what it is given, and does not write. Safe to share between threads.

    `special_ids`, `byte_ids`: none, as its positions are of no vocabulary.
    """

    special_ids: frozenset[int] = frozenset()
    byte_ids: frozenset[int] = frozenset()

    @property
    def parts(self) -> Parts:
        """See `model.reader.Reader`."""
        return EncoderParts(self.abilities)

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """None."""
        return ()

    def source_ids(self, text: str) -> tuple[int, ...]:
        """See `model.reader.Reader`."""
        return self.given().source.ids

    @torch.inference_mode()
    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Read what is given, or what is in the file `text`.

        Raises as `Reader.trace`, or an InputTextError if the file cannot be read or a target is given.
        """
        if target is not None:
            message = "This model ({family}) only reads: it has no decoder that could read a target."
            raise InputTextError(message, family=self.abilities.family)
        self.checked_extras(extras)
        if self.content is None:
            return self.of_file(text).trace("", extras=extras, edits=edits)
        given = self.given()
        source = given.source
        functions = head_edits(edits, self.abilities, num_source=len(source.ids), num_target=0)
        more = {} if self.abilities.knows_inputs else {"output_attentions": True}
        with given.read_by_model(), listen(record={CALL, OUTPUTS} & {CALL, *extras}, edits=functions) as recorded:
            output = self.model(**given.numbers, **more)
        return Trace(
            reader_key=self.key,
            source=source,
            inputs=weights_of(output, self.abilities, self.config) if more else self.layout.inputs(recorded),
            recorded=self.layout.outputs(recorded),
            special_tokens=source.special,
        )


@dataclass(frozen=True, eq=False)
class WriterParts(LibraryParts):
    """The parts of a model that writes about what it is given: its encoder is run over all of that, or its decoder over
    a part of what the encoder makes of it.
    """

    reader: "GivenWriter"

    def _arguments(self, ids: Sequence[int], stack: Stack | None = None) -> dict[str, Any]:
        given = self.reader.given()
        read = given.read(given.source.ids, 1) if stack == "encoder" else given.memory(ids)
        return read | {"decoder_input_ids": torch.tensor([list(ids)], device=self.reader.device), "use_cache": False}

    def _run(self, ids: Sequence[int], positions: Tensor | None = None) -> None:
        given, model = self.reader.given(), self.reader.model
        library.encoded(model, given.numbers)
        model.base_model(**self._arguments(ids))  # type: ignore[operator]

    def _few(self, trace: Trace, stack: Stack, rows: Sequence[int]) -> dict[str, Any]:
        if stack == "encoder":
            return self._arguments(trace.target_ids[:1], stack)
        return self._arguments([trace.target_ids[row] for row in rows])


class GivenWriter(GivenReader, TextWriter):
    """A loaded model of `transformers` that writes about what it is given. Safe to share between threads.

    `before_target`: what a target begins with, as the model writes.
    """

    before_target: ClassVar[str] = ""
    #: What it may be told to write by tokens of its own, and what it is told.
    _offered: Offered = NOTHING_OFFERED
    _told: tuple[str, str] = NOTHING_OFFERED.chosen

    @property
    def key(self) -> str:
        """Names this content, what is read whatever the text, and what is to be written."""
        return "/".join((super().key, *filter(None, self._told)))

    @property
    def offered(self) -> Offered:
        """See `model.reader.Reader`: by names of the model's own tokens, what it reads and what it is to write."""
        return self._offered

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """See `model.reader.Reader`."""
        if not (reads or writes):
            return self
        made = copy.copy(self)
        made._told = replace(self._offered, chosen=self._told).with_choice(reads, writes)
        return made

    @property
    def parts(self) -> WriterParts:
        """See `model.reader.Reader`. They are looked for in what is given, else in what proves."""
        return WriterParts(self if self.content is not None else self.reading("", self.probing))

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Read what is given, or what is in the file `text`, and write; or write a `target` about it.

        Raises as `TextTracer.trace`, or an InputTextError if the file cannot be read.
        """
        if self.content is None:
            return self.of_file(text).trace("", target, extras=extras, edits=edits)
        return super().trace(text, target, extras=extras, edits=edits)

    def source(self, text: str) -> Encoded:
        """The positions of what is given. Raises an InputTextError if there is nothing, or it cannot be read."""
        source = self.given().source
        return Encoded(source.ids, source.tokens)

    def source_offsets(self, text: str) -> None:
        """None: they are of no characters."""

    def source_of(self, text: str, read: Encoded) -> Source:
        """See `TextTracer`."""
        return self.given().source

    def read_first(self, ids: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """See `TextTracer`."""
        return self.given().read(ids, copies)

    def run_again(self, trace: Trace, *, edits: Edits | None = None) -> Any:
        """See `TextTracer`. Raises a TraceError if the trace is of something else than what is given."""
        if trace.reader_key != self.key:
            raise TraceError(self.another_given)
        return super().run_again(trace, edits=edits)

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """Every token that it may write; of what it reads there is none."""
        return () if of_source else super().all_tokens()

    def target_ids(self, text: str) -> tuple[int, ...]:
        """The tokens of what may be written, with the one that ends it, as the model writes."""
        what, limit = said("The target"), self.abilities.max_target_length
        ids = self.checked_tokens(self._begun(text), what, limit, is_target=True, with_special=False).ids
        return (*ids, *sorted(self.end_ids)[:1])

    def target_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """See `TextTracer`."""
        begun = self._begun(text)
        moved = len(begun) - len(text)
        found = self.pieces.offsets(begun, is_target=True, with_special=False)
        if found is None:
            return None
        ends = [(0, 0)] * len(sorted(self.end_ids)[:1])
        return [*((max(0, begin - moved), max(0, end - moved)) for begin, end in found), *ends]

    def most_steps(self, source_ids: Sequence[int]) -> int:
        """See `TextTracer`; what is told before counts among the tokens of a target."""
        most, limit = super().most_steps(source_ids), self.abilities.max_target_length
        return most if limit is None else min(most, limit - len(self.begin_before(source_ids)))

    def _begun(self, text: str) -> str:
        return text if text[:1].isspace() else f"{self.before_target}{text}"
