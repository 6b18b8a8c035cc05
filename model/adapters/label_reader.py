"""Ask a classifier, a tagger or a model that finds answers which label it says, through the same `Chooser`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters import library
from model.adapters.text_reader import TextReader
from model.errors import InputTextError, TokenError
from model.messages import said
from model.word_choice import TokenPlace, WordChoice, first_difference

#: What a label is of: a text, a token of it, or (where an answer begins) every token of a text.
LabelOf = Literal["text", "token", "answer"]
#: How a person marks the word whose label is asked for.
_MARKED: Final = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True)
class Labels:
    """The labels of a model by their ids."""

    names: Callable[[int], str]  #: id → what it is called

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The labels of ids."""
        return tuple(self.names(int(number)) for number in token_ids)

    def token_id(self, token: str) -> int:
        """Raise a TokenError: a label is asked for by its id."""
        raise TokenError("{token!r} is not a token of this vocabulary.", token=token)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The labels of ids, one after another."""
        return " ".join(self.tokens(token_ids))


class LabelReader(TextReader):
    """A `TextReader` whose model says labels: of a text, of the one of its words that stands in [brackets] (else the
    last), or of every token whether an answer begins there. It is asked through the same `Chooser` as models of words.
    """

    @property
    def vocabulary(self) -> Labels:
        """The labels by their ids; of answers the numbers of tokens."""
        if self._label_of == "answer":
            return Labels(lambda position: said("token {number}", number=position + 1))
        return Labels(lambda number: str(self.config.id2label.get(number, number)))

    def labels(self, text: str) -> tuple[str, ...]:
        """As `model.word_choice.Chooser` says; of answers one for each token, with the token."""
        if self._label_of == "answer":
            tokens = self.source(text).tokens
            return tuple(f"{position + 1}: {token}" for position, token in enumerate(tokens))
        return self.vocabulary.tokens(range(int(self.config.num_labels)))

    def asked(self, text: str) -> str:
        """The same text: no word is masked."""
        return text

    def place(self, text: str) -> TokenPlace:
        """Where it says a label. Raises an InputTextError for a blank or too long text, or a single label."""
        if self._label_of != "answer" and self.config.num_labels < 2:
            raise InputTextError("This model outputs one number, so there are no labels to choose between.")
        marked = _MARKED.search(text) if self._label_of == "token" else None
        plain = text if marked is None else f"{text[: marked.start()]}{marked[1]}{text[marked.end() :]}"
        ids = self.source(plain).ids
        row = 0 if self.abilities.kind == "encoder" else len(ids) - 1
        if self._label_of == "token":
            row = self._row_of(plain, ids, None if marked is None else marked.start())
        return TokenPlace(ids, (), row) if self.abilities.kind == "encoder" else TokenPlace((), ids, row)

    def word_choice(self, text: str, right: str, wrong: str) -> WordChoice:
        """Two labels, by their names. Raises as `place`, or an InputTextError if both are the same or unknown."""
        names = self.labels(text)
        if unknown := [name for name in (right, wrong) if name not in names]:
            raise InputTextError("This model has no label {label!r}.", label=unknown[0][:80])
        first_difference([names.index(right)], [names.index(wrong)])
        return WordChoice(self.place(text), names.index(right), names.index(wrong))

    def logits_at(self, output: Any, row: int) -> Float[Tensor, "copy label"]:
        """The labels' logits: one row of each text, or those of a token; of answers, one for each token."""
        if "start_logits" in output:
            starts: Tensor = output.start_logits
            return starts
        logits: Tensor = output.logits
        return logits[:, row] if logits.dim() == 3 else logits

    @cached_property
    def _label_of(self) -> LabelOf:
        """What the labels are of, by the shape of what the model puts out for two tokens."""
        ids = [1 % library.vocab_size(self.model)] * 2
        is_encoder = self.abilities.kind == "encoder"
        with torch.inference_mode():
            output = self.model(**(self.arguments(ids, ()) if is_encoder else self.arguments((), ids)))
        if "start_logits" in output:
            return "answer"
        return "token" if output.logits.dim() == 3 else "text"

    def _row_of(self, text: str, ids: Sequence[int], character: int | None) -> int:
        """The first token of the word at a character; by default the last that is text."""
        offsets = self.pieces.offsets(text)
        rows = [row for row, token_id in enumerate(ids) if token_id not in self.special_ids]
        if character is None or offsets is None:
            return rows[-1]
        return next((row for row in rows if offsets[row][1] > character), rows[-1])
