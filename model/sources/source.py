"""A source: its positions, what each is called, the picture that they are parts of, and what a trace's file keeps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from jaxtyping import UInt8
from torch import Tensor

from model.abilities import SourceKind
from model.errors import Message

WORD_BEGIN: Final = "▁"
"""SentencePiece's sign for the space before a word; in front of every token that begins one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """A picture whose parts are the positions from `first` on, line by line: each has one rectangle of equal size."""

    pixels: UInt8[Tensor, "height width 3"]
    #: rows, columns: of parts.
    rows: int
    columns: int
    first: int = 0  #: the positions before it have no place in the picture


@dataclass(frozen=True, eq=False, kw_only=True)
class Source(ABC):
    """What one run read."""

    kind: ClassVar[SourceKind]
    has_words: ClassVar[bool] = False  #: whether its positions are pieces of words that a person typed
    #: the tensors that a file keeps of it, and what their numbers are, as NumPy names it: "u" for bytes.
    arrays: ClassVar[Mapping[str, str]] = MappingProxyType({})

    text: str  #: as typed; of a file, its name
    #: what an encoder read, a token a position; empty of a model without one.
    tokens: tuple[str, ...] = ()
    grid: Grid | None = None  #: the picture that its positions are drawn in; None where they are words

    @property
    def ids(self) -> tuple[int, ...]:
        """What the model knows each position by: the id of its token, or its number where there is no vocabulary."""
        return tuple(range(len(self.tokens)))

    @property
    def names(self) -> tuple[str, ...]:
        """What the positions are called in labels."""
        return self.tokens

    @property
    def caption(self) -> tuple[Message, Message] | None:
        """What stands above a figure beside its name: what it is, and how the model reads it; None of a text."""
        return None

    @property
    def content(self) -> bytes:
        """What tells it from another one of the same text and positions."""
        return b""

    @property
    @abstractmethod
    def stored(self) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
        """What a file keeps of it beside its kind, text and tokens: values for JSON, and its tensors (`arrays`)."""

    @classmethod
    @abstractmethod
    def restored(
        cls, text: str, tokens: tuple[str, ...], values: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> Self:
        """The source of which a file keeps this. Any error means that the file is damaged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TextSource(Source):
    """A text that a person typed."""

    kind = "text"
    has_words = True

    token_ids: tuple[int, ...] = ()  #: one for each token
    #: the same tokens as their own tokenizer writes them, where that is not as a `Trace` does: BERT's pieces with "##"
    #: in front go on with a word. A file does not keep them.
    own_names: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the tokens."""
        return self.token_ids

    @property
    def names(self) -> tuple[str, ...]:
        """The tokens as their own tokenizer writes them."""
        return self.own_names or self.tokens

    @property
    def stored(self) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
        """The ids."""
        return {"ids": self.token_ids}, {}

    @classmethod
    def restored(
        cls, text: str, tokens: tuple[str, ...], values: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> Self:
        """See `Source`."""
        return cls(text=text, tokens=tokens, token_ids=tuple(values["ids"]))
