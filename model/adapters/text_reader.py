"""Ask a Hugging Face model which word or label it would say about a text, and change its attention there."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters import library
from model.adapters.capture import check_edits, layers_counted
from model.adapters.generate_call import Beginning, GenerationRows, begin_writing
from model.adapters.library_parts import LibraryParts
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.stream_taps import layer_around, word_vectors
from model.adapters.text_tracer import Pass, TextTracer, read_rows
from model.errors import InputTextError, TokenError, said
from model.interruption import pause
from model.nn.hooks import CALL, Edit, listen
from model.nn.masks import pad
from model.trace.steps import are_steps_wanted
from model.trace.trace import Trace
from model.word_choice import (
    MASK,
    NO_EDITS,
    Choice,
    Chooser,
    ReadsOn,
    TextChoice,
    TokenPlace,
    WordChoice,
    embedding_hook,
    first_difference,
)


def mask_of(pieces: LibraryTokenizer) -> str:
    """The tokenizer's own sign of a masked word. Raises an InputTextError if it has none."""
    own = pieces.tokenizer.mask_token
    if own is None:
        raise InputTextError("The tokenizer of this model has no mask token, so no masked word can be predicted.")
    return str(own)


def with_mask(text: str, pieces: LibraryTokenizer) -> str:
    """A text with the tokenizer's own sign for [MASK]. Raises an InputTextError if it has none, or the text not one."""
    text = text.replace(MASK, own := mask_of(pieces))
    if (count := text.count(own)) != 1:
        raise InputTextError("Expected a text with one [MASK] instead of a word, got {count}.", count=count)
    return text


def masked_choice(
    place: TokenPlace, filled: Sequence[tuple[int, ...]], words: Sequence[str], special_ids: frozenset[int]
) -> WordChoice:
    """The choice between two words for a mask; `filled` is the text with each word in its place.

    Raises an InputTextError if a word is more than one token or not in the vocabulary, or both are the same.
    """
    before, after = place.source[: place.row], place.source[place.row + 1 :]
    for ids, word in zip(filled, words, strict=True):
        if len(ids) != len(place.source) or ids[: place.row] != before or ids[place.row + 1 :] != after:
            raise InputTextError(
                "“{word}” is more than one token for this model, but a mask hides only one. Choose another word.",
                word=word,
            )
        if ids[place.row] in special_ids:
            raise InputTextError("“{word}” is not in this model's vocabulary. Choose another word.", word=word)
    _, _, right, wrong = first_difference(*filled)
    return WordChoice(place, right, wrong)


#: Padded tokens of texts that a decoder reads side by side: more of them take as long each.
TOKENS_AT_ONCE: Final = 256


class TextReader(TextTracer, Chooser):
    """As `TextTracer`; it also says which word it would say at a place, and lets its attention be changed there."""

    pads = False

    @property
    def parts(self) -> LibraryParts:
        """See `model.reader.Reader`."""
        return LibraryParts(self)

    def trace_batch(self, sentences: Sequence[tuple[str, str | None]]) -> Iterator[tuple[int, Trace | InputTextError]]:
        """See `Reader`. A decoder reads texts of like length side by side, where no steps are wanted of them."""
        left: list[tuple[int, str, tuple[int, ...]]] = []
        can = self.abilities
        has_bias = can.positions in ("ALiBi", "relative bias")
        if can.kind != "decoder" or not can.knows_inputs or has_bias or are_steps_wanted():
            yield from super().trace_batch(sentences)
            return
        for number, (text, _target) in enumerate(sentences):
            try:
                left.append((number, text, self.source_ids(text)))
            except InputTextError as error:
                yield number, error
        left.sort(key=lambda one: len(one[2]))
        is_apart = True
        while left:
            size = max(1, TOKENS_AT_ONCE // len(left[-1][2]))
            some, left = left[-size:], left[:-size]
            passes = self._side_by_side([ids for _, _, ids in some]) if is_apart else ()
            is_apart = bool(passes)
            for (number, text, ids), passed in zip_longest(some, passes):
                yield number, self.trace_rows(text, ids, (), passed=passed)

    @torch.inference_mode()
    def _side_by_side(self, texts: Sequence[Sequence[int]]) -> Sequence[Pass]:
        """What one pass of a decoder over texts leaves of each; nothing if its rows may see what pads the others."""
        given = {**read_rows(pad(texts, texts[0][0]).to(self.device)), "use_cache": False}
        with listen(record={CALL}) as recorded, layers_counted(lambda *_: pause()):
            self.model.base_model(**given)  # type: ignore[operator]
        calls = [calls[-1] for calls in recorded.values()]
        if not all(call.mask.causal and call.bias is None for call in calls):
            return ()
        inputs = (self.layout.inputs(recorded, number) for number in range(len(texts)))
        return [
            Pass({site: tuple(of.of_first(len(ids)) for of in layers) for site, layers in each.items()}, {}, None)
            for ids, each in zip(texts, inputs, strict=True)
        ]

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens each of which ends a text, as generation_config.json says: one, several, or none."""
        settings: Any = self.model.generation_config
        ends = settings.eos_token_id
        named = [ends] if isinstance(ends, int) else ends or ()
        return frozenset(token_id for token_id in named if token_id < self.vocab_size)

    def labels(self, text: str) -> tuple[str, ...]:
        """None: it predicts words."""
        return ()

    def asked(self, text: str) -> str:
        """See `model.word_choice.Chooser`."""
        if self.abilities.kind != "encoder" or MASK in text or (own := mask_of(self.pieces)) in text:
            return text
        end = len(text.rstrip(" .,;:!?…。！？"))
        start = text.rfind(" ", 0, end) + 1
        if start >= end:
            raise InputTextError("Expected a text with a word to mask, got {text!r}.", text=text[:40])
        return f"{text[:start]}{own}{text[end:]}"

    def place(self, text: str) -> TokenPlace:
        """Where it says a token: in [MASK]'s place, after the text, or first of its translation (`Chooser.place`)."""
        if self.abilities.kind == "encoder":
            read = self.source(with_mask(text, self.pieces))
            return TokenPlace(read.ids, (), read.ids.index(self.pieces.tokenizer.mask_token_id), read.token_inputs)
        ids = self.source(text).ids
        if self.abilities.kind == "decoder":
            return TokenPlace((), ids, len(ids) - 1)
        begun = self.first_target(ids)
        return TokenPlace(ids, begun, len(begun) - 1)

    def word_choice(self, text: str, right: str, wrong: str) -> WordChoice:
        """The first token in which two texts differ that the model may write, as of `Chooser.word_choice`."""
        if self.abilities.kind == "encoder":
            place = self.place(text)
            parts = with_mask(text, self.pieces).split(mask_of(self.pieces))
            filled = [self.source(word.join(parts)).ids for word in (right, wrong)]
            return masked_choice(place, filled, (right, wrong), self.special_ids)
        if self.abilities.kind == "decoder":
            row, before, *chosen = first_difference(*(self.source(f"{text}{word}").ids for word in (right, wrong)))
            return WordChoice(TokenPlace((), before, row - 1), *chosen)
        texts = self.text_choice(text, right, wrong)
        row, before, *chosen = first_difference(texts.right, texts.wrong)
        place = TokenPlace(texts.source, (*texts.begin, *before), len(texts.begin) - 1 + row)
        return WordChoice(place, *chosen)

    def text_choice(self, text: str, right: str, wrong: str) -> TextChoice:
        """Two whole translations. Raises as `word_choice`, or an InputTextError if the model writes none."""
        if why := self.abilities.lacks.get("teacher forcing"):
            raise InputTextError(why)
        limit = self.abilities.max_target_length
        both = [self.checked_tokens(word, said("A translation"), limit, is_target=True).ids for word in (right, wrong)]
        first_difference(*both)
        return TextChoice(self.source(text).ids, self.begin_before(both[0]), *both)

    def place_logits(
        self, place: TokenPlace, copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy vocab"]:
        """The logits of a place, as `model.word_choice.Chooser` says."""
        sides = {embedding_hook("encoder"): place.source, embedding_hook("decoder"): place.target}
        check_edits({name: edit for name, edit in edits.items() if name not in sides}, self.abilities)
        given, row = self.arguments(place.source, place.target, copies, place.token_inputs), place.row
        if not place.source and row == len(place.target) - 1 and library.keeps_rows(self.model):
            # The logits of every other row would be most of the memory.
            given["logits_to_keep"], row = 1, 0
        with (
            word_vectors(self.model, [(ids, edits[name]) for name, ids in sides.items() if ids and name in edits]),
            listen(edits=edits),
        ):
            output = self.model(**given)
        return self.logits_at(output, row).float()

    def reads_on(self, source: Sequence[int]) -> ReadsOn:
        """See `model.word_choice.Chooser`. Raises a SessionError if the model's settings for writing cannot be used."""
        begun = Beginning()
        if source:
            begun = begin_writing(self.model, self.read_first(source), 1, self.start_options)
        rows = GenerationRows(self.model, begun, caches=self.caches)

        def read(token_ids: Sequence[int]) -> Float[Tensor, "vocab"]:
            return self.allowed(rows.read(torch.tensor([token_ids], device=self.device)))[0]

        return read

    def logits_at(self, output: Any, row: int) -> Float[Tensor, "copy vocab"]:
        """What the model puts out at a row."""
        return self.allowed(output.logits[:, row])

    def log_odds(
        self, choices: Sequence[Choice], copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy choice"]:
        """See `model.word_choice.Chooser`, of one choice."""
        (choice,) = choices
        if isinstance(choice, TextChoice):
            right, wrong = (self._log_prob(choice, text, copies, edits) for text in (choice.right, choice.wrong))
            return (right - wrong)[:, None]
        logits = self.place_logits(choice.place, copies, edits)
        return (logits[:, choice.right] - logits[:, choice.wrong])[:, None]

    def _log_prob(
        self, choice: TextChoice, text: Sequence[int], copies: int, edits: Mapping[str, Edit]
    ) -> Float[Tensor, "copy"]:
        """log p of a whole text, from the first token in which both differ on."""
        check_edits(edits, self.abilities)
        with listen(edits=edits):
            output = self.model(**self.arguments(choice.source, (*choice.begin, *text[:-1]), copies))
        emitted, logits = torch.tensor(text, device=self.device), output.logits[:, len(choice.begin) - 1 :]
        log_probs: Tensor = self.allowed(logits.float()).log_softmax(-1)[:, torch.arange(len(text)), emitted]
        return log_probs[:, choice.differs_at :].sum(-1)

    def attention_of(self, site: str, layer: int) -> tuple[nn.Module, nn.Module]:
        """The module that attends at a site of a layer, and the layer around it, or itself where it is in no list."""
        attention = next(module for module, at in self.layout.sites.items() if (site, layer) in at)
        return attention, layer_around(self.model, attention) or attention

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """Every token of the vocabulary, in the order of their ids, each spelled by itself."""
        if of_source and self.pieces.has_two_vocabularies:
            spell, size = self.pieces.source_tokens, self.pieces.source_size
        else:
            spell, size = self.pieces.tokens, self.vocab_size
        return tuple(token for token_id in range(size) for token in spell([token_id]))


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
        """See `model.word_choice.Chooser`; of answers one for each token, with the token."""
        if self._label_of == "answer":
            tokens = self.source(text).tokens
            return tuple(f"{position + 1}: {token}" for position, token in enumerate(tokens))
        return self.vocabulary.tokens(range(int(self.config.num_labels)))

    def asked(self, text: str) -> str:
        """The same text: no word is masked."""
        return text

    def place(self, text: str) -> TokenPlace:
        """Where it predicts a label. Raises an InputTextError for a blank or too long text, or a single label."""
        if self._label_of != "answer" and self.config.num_labels < 2:
            raise InputTextError("This model outputs one number, so there are no labels to choose between.")
        marked = _MARKED.search(text) if self._label_of == "token" else None
        plain = text if marked is None else f"{text[: marked.start()]}{marked[1]}{text[marked.end() :]}"
        read = self.source(plain)
        ids = read.ids
        row = 0 if self.abilities.kind == "encoder" else len(ids) - 1
        if self._label_of == "token":
            row = self._row_of(plain, ids, None if marked is None else marked.start())
        is_encoder = self.abilities.kind == "encoder"
        return TokenPlace(ids, (), row, read.token_inputs) if is_encoder else TokenPlace((), ids, row)

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
        ids = (0, 0)
        is_encoder = self.abilities.kind == "encoder"
        with torch.inference_mode():
            output = self.model(**(self.arguments(ids, ()) if is_encoder else self.arguments((), ids)))
        if "start_logits" in output:
            return "answer"
        return "token" if output.logits.dim() == 3 else "text"

    def _row_of(self, text: str, ids: Sequence[int], character: int | None) -> int:
        """The first token of the word at a character; by default the last that is text."""
        offsets = self.source_offsets(text)
        rows = [row for row, token_id in enumerate(ids) if token_id not in self.special_ids]
        if character is None or offsets is None:
            return rows[-1]
        return next((row for row in rows if offsets[row][1] > character), rows[-1])
