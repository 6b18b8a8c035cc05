"""Ask a Hugging Face model that reads text which word it would say, and change its attention there."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from model.adapters import library
from model.adapters.capture import head_edits
from model.adapters.library_tokenizer import Encoded, LibraryTokenizer
from model.adapters.stream_taps import LayerCall, Stack, layer_around, tapped
from model.adapters.text_tracer import TextTracer
from model.errors import InputTextError
from model.messages import said
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import site_path
from model.nn.hooks import Edit, listen
from model.trace.trace import Trace
from model.word_choice import MASK, NO_EDITS, Choice, TokenPlace, WordChoice, first_difference


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
                "“{word}” is more than one token of this model, but a mask replaces only one. Choose another word.",
                word=word,
            )
        if ids[place.row] in special_ids:
            raise InputTextError("“{word}” is not in this model's vocabulary. Choose another word.", word=word)
    _, _, right, wrong = first_difference(*filled)
    return WordChoice(place, right, wrong)


class TextReader(TextTracer):
    """As `TextTracer`; it also says which word it would say at a place, and lets its attention be changed there."""

    pads = False

    def labels(self, text: str) -> tuple[str, ...]:
        """None: it says words."""
        return ()

    def asked(self, text: str) -> str:
        """As `model.word_choice.Chooser` says."""
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
            ids = self.source(with_mask(text, self.pieces)).ids
            return TokenPlace(ids, (), ids.index(self.pieces.tokenizer.mask_token_id))
        ids = self.source(text).ids
        if self.abilities.kind == "decoder":
            return TokenPlace((), ids, len(ids) - 1)
        read = self.first_target(ids)
        return TokenPlace(ids, read, len(read) - 1)

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
        limit = self.abilities.max_target_length
        both = [self.checked_tokens(word, said("A translation"), limit, is_target=True).ids for word in (right, wrong)]
        row, before, *chosen = first_difference(*both)
        return WordChoice(TokenPlace(self.source(text).ids, (self.begin_before(both[0]), *before), row), *chosen)

    def place_logits(
        self, place: TokenPlace, copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy vocab"]:
        """The logits of a place, as `model.word_choice.Chooser` says."""
        given, row = self.arguments(place.source, place.target, copies), place.row
        if not place.source and row == len(place.target) - 1 and library.keeps_rows(self.model):
            # The logits of every other row would be most of the memory.
            given["logits_to_keep"], row = 1, 0
        with listen(edits=edits):
            output = self.model(**given)
        return self.logits_at(output, row).float()

    def logits_at(self, output: Any, row: int) -> Float[Tensor, "copy vocab"]:
        """What the model puts out at a row."""
        logits: Tensor = output.logits[:, row]
        return logits

    def log_odds(
        self, choices: Sequence[Choice], copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy choice"]:
        """As `model.word_choice.Chooser` says, of one choice of words."""
        (choice,) = choices
        assert isinstance(choice, WordChoice)
        logits = self.place_logits(choice.place, copies, edits)
        return (logits[:, choice.right] - logits[:, choice.wrong])[:, None]

    def trace_place(self, place: TokenPlace, token: int, edits: Edits | None = None) -> Trace:
        """A trace of what is read at a place where this token is said; with edits of heads, for this run alone."""
        if self.abilities.kind == "encoder":
            return self.trace_source("", Encoded(place.source, self.pieces.tokens(place.source)), False, edits)
        if self.abilities.kind == "decoder":
            return self.trace_rows("", place.target, (), edits=edits)
        begin, *written = place.target
        return self.trace_rows("", place.source, [*written, token], begin=begin, edits=edits)

    def tapped(self, rows: Mapping[Stack, int | None]) -> AbstractContextManager[list[LayerCall]]:
        """What the layers of these stacks do while the block runs; arguments of `stream_taps.tapped`."""
        return tapped(self.model, self.layout, rows)

    def attention_of(self, site: str, layer: int) -> tuple[nn.Module, nn.Module]:
        """The module that attends at a site of a layer, and the layer around it, or itself where it is in no list."""
        attention = next(module for module, at in self.layout.sites.items() if (site, layer) in at)
        return attention, layer_around(self.model, attention) or attention

    def value_hook(self, layer: nn.Module, site: str) -> str:
        """The hook of the values [batch, kv_head, key, d_v] of a site in a layer that is run alone."""
        # A module that several layers share is called by the first one's name.
        firsts = (self.layout.sites[module][0] for module in layer.modules() if module in self.layout.sites)
        return f"{site_path(*next(first for first in firsts if first[0] == site))}.hook_value"

    def all_tokens(self) -> tuple[str, ...]:
        """Every token of the vocabulary, in the order of their ids, each spelled by itself."""
        return tuple(token for token_id in range(self.vocab_size) for token in self.pieces.tokens([token_id]))

    def run_again(self, trace: Trace, *, with_states: bool = False, edits: Edits | None = None) -> Any:
        """What the library's model returns for what a trace read, under the trace's edits, or these named ones."""
        source, target = trace.source_ids, trace.target_ids
        wanted = trace.edits if edits is None else edits
        hooks = head_edits(wanted, self.abilities, num_source=len(source), num_target=len(target))
        given = self.arguments(source, target)
        if with_states:
            given["output_hidden_states"] = True
        with listen(edits=hooks):
            return self.model.base_model(**given)  # type: ignore[operator]
