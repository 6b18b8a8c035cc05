"""Read text with Hugging Face models through the same `Trace`."""

import copy
import hashlib
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.adapters import library
from model.adapters.base_reader import BaseReader, Opened
from model.adapters.capture import head_edits
from model.adapters.generate_call import most_steps, write_greedily
from model.adapters.layout import OUTPUTS, weights_of
from model.adapters.library_tokenizer import Encoded, LibraryTokenizer
from model.errors import InputTextError, said
from model.input_text import check_not_blank, nothing_seen, too_long
from model.languages import Offered
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.sources.source import Source, TextSource
from model.trace.steps import Vocabulary, are_steps_wanted, describe_steps
from model.trace.trace import SiteLayers, TokenInputs, Trace
from model.word_choice import TokenPlace

#: Longer pieces than this there are none worth waiting for: a far longer text is refused before it is cut into tokens.
LONGEST_PIECE: Final = 100
#: A longer text that a decoder only reads gets no candidates for every one of its tokens.
LONGEST_WITH_STEPS: Final = 512


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass left behind: what every site computed, what was recorded beside, and one row of logits per row."""

    inputs: SiteLayers
    recorded: Mapping[str, Tensor]
    logits: Float[Tensor, "row vocab"] | None


def read_rows(rows: Int[Tensor, "row position"]) -> dict[str, Tensor]:
    """What a model is called with to read these ids, each of them as a token that is there."""
    return {"input_ids": rows, "attention_mask": torch.ones_like(rows)}


class TextTracer(BaseReader):
    """A loaded model of `transformers` that reads text. Safe to share between threads.

    `caches`: whether keys and values are kept from one written token to the next; otherwise all is read again.
    `second`: the text that is read after every text, as a pair; "" for none.
    """

    caches = True
    second = ""

    def __init__(self, opened: Opened, pieces: LibraryTokenizer) -> None:
        super().__init__(opened)
        begins = (self._stated("forced_bos_token_id"), self._stated("decoder_start_token_id"))
        self.pieces = pieces = pieces.beginning_with(begins)
        self.languages = pieces.languages

    @property
    def key(self) -> str:
        """Names this content, as it reads: in the languages that are chosen, and with which second text."""
        second = [hashlib.sha256(self.second.encode("utf-8", errors="replace")).hexdigest()] if self.second else []
        return "/".join((super().key, *filter(None, self.pieces.spoken), *second))

    @property
    def offered(self) -> Offered:
        """The languages that may be chosen."""
        return self.pieces.offered

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """See `model.reader.Reader`."""
        if not (reads or writes):
            return self
        made = copy.copy(self)
        made.pieces = self.pieces.speaking(reads, writes)
        made.languages = made.pieces.languages
        return made

    def with_second(self, second: str) -> Self:
        """The same model, which reads every text as the first of a pair, and this one after it; "" for none.

        Raises an InputTextError if it is not an encoder alone, or the second text is blank.
        """
        if not second:
            return self
        if self.abilities.kind != "encoder":
            message = "Only an encoder reads two texts as a pair; this model ({family}) has a decoder."
            raise InputTextError(message, family=self.abilities.family)
        check_not_blank(second, said("The second text"))
        made = copy.copy(self)
        made.second = second
        return made

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Read a text once and keep what every attention site computed.

        Args:
            text, extras, edits: as of `Reader.trace`.
            target: what the decoder reads along: a translation, or (decoder only) what follows the text. By default the
                model's own greedy translation, or nothing more.

        Raises:
            InputTextError: a text is blank or too long, or a target is given to a model without a decoder.
            SessionError: the model is to translate, and its own settings for writing cannot be used.
            EditError: an edit names what does not exist, or the model's heads cannot be edited.
            TraceError: an extra is asked for that this model does not record.
        """
        source, keep = self.source(text), OUTPUTS in self.checked_extras(extras)
        match self.abilities.kind:
            case "encoder":
                return self._read_only(text, target, source, keep, edits)
            case "decoder":
                more = Encoded((), ()) if target is None else self.pieces.encode(target, with_special=False)
                self._check_known(more, self.vocab_size)
                return self.trace_rows(text, source.ids, more.ids, keep_outputs=keep, edits=edits)
            case _:
                if target is None:
                    return self.trace_written(text, source.ids, self.write(source.ids, edits), keep, edits)
                emitted = list(self.target_ids(target))
                begin = self.begin_before(emitted)
                return self.trace_rows(text, source.ids, emitted, begin=begin, keep_outputs=keep, edits=edits)

    def trace_written(
        self,
        text: str,
        source_ids: Sequence[int],
        written: Sequence[int],
        keep_outputs: bool = False,
        edits: Edits | None = None,
    ) -> Trace:
        """Read what an encoder–decoder wrote of a text, with the tokens that begin it (`write`). Raises as `trace`."""
        count = len(self.begin_before(written))
        begin, emitted = written[:count], written[count:]
        return self.trace_rows(text, source_ids, emitted, begin=begin, keep_outputs=keep_outputs, edits=edits)

    def source(self, text: str) -> Encoded:
        """The tokens of a text, checked. Raises an InputTextError if the text is blank or too long."""
        return self.checked_tokens(text, said("The text"), self.abilities.max_length, is_target=False)

    def source_ids(self, text: str) -> tuple[int, ...]:
        """The ids of `source`."""
        return self.source(text).ids

    def target_ids(self, text: str) -> tuple[int, ...]:
        """The ids of a translation that is given. Raises an InputTextError if it is blank or too long."""
        return self.checked_tokens(text, said("The target"), self.abilities.max_target_length, is_target=True).ids

    def target_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """The characters of a translation behind each token of `target_ids`, as `source_offsets`."""
        return self.pieces.offsets(text, is_target=True)

    def source_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """The characters of a text behind each token of `source`, (0, 0) for an added one; None if unknown."""
        return self.pieces.offsets(text, self.second)

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
        """Run a decoder once over what is given as token ids.

        Args:
            text, source_ids: what is read, and its ids.
            emitted: what was written after the text, or (encoder–decoder) after the tokens that begin.
            begin: the tokens with which the decoder of an encoder–decoder began; by default its own.
            keep_outputs: whether to record the real head outputs.
            passed: what such a run left, where it is done already.

        Raises:
            InputTextError: the tokens are too many.
            EditError: an edit names what does not exist, or the model's heads cannot be edited.
        """
        has_encoder = self.abilities.kind == "encoder-decoder"
        if has_encoder:
            begin = begin or self.begin_before(emitted)
            rows = [*begin, *emitted[:-1]]
        else:
            rows = [*source_ids, *emitted]
        most = self.abilities.max_target_length if has_encoder else self.abilities.max_length
        if most is not None and len(rows) > most:
            message = "The decoder reads at most {most:,} tokens, got {num_rows:,}. Shorten the text."
            raise InputTextError(message, most=most, num_rows=len(rows))
        encoder_ids = tuple(source_ids) if has_encoder else ()
        done = passed or self._run(encoder_ids, rows, keep_outputs, edits)
        predicted = [] if done.logits is None else done.logits.argmax(-1).tolist()
        # What each row is followed by; the last token of a text that nothing follows, by what the model would write.
        following = list(emitted) if has_encoder else [*rows[1:], *predicted[-1:]]
        first = max(0, len(begin) - 1)
        of_steps = None if done.logits is None else done.logits[first : first + len(following)]
        steps = [] if of_steps is None else describe_steps(of_steps, following, first, self.pieces)
        source = self.source_of(text, Encoded(encoder_ids, self.pieces.source_tokens(encoder_ids)))
        return Trace(
            reader_key=self.key,
            source=source,
            translation=self.pieces.decode(emitted),
            target_ids=tuple(rows),
            target_tokens=self.pieces.tokens(rows),
            predicted_ids=tuple(predicted),
            predicted_tokens=self.pieces.tokens(predicted),
            steps=tuple(steps),
            inputs=done.inputs,
            recorded=done.recorded,
            special_tokens=self.pieces.special_tokens | source.special,
        )

    @torch.inference_mode()
    def write(self, source_ids: Sequence[int], edits: Edits | None = None) -> list[int]:
        """The greedy translation of an encoder–decoder as token ids, with the one that begins it. Raises as `trace`."""
        most = self.most_steps(source_ids)
        functions = head_edits(edits, self.abilities, num_source=len(source_ids), num_target=most)
        with listen(edits=functions):
            # Only a run that is changed needs to be heard; what it computes here is computed again and kept there.
            return write_greedily(self.model, self.read_first(source_ids), most, self.start_options)[0]

    def most_steps(self, source_ids: Sequence[int]) -> int:
        """Tokens that it may write about what it read, or after it."""
        return most_steps(self.abilities, len(source_ids))

    @property
    def start_options(self) -> Mapping[str, Any]:
        """Options of `generate` that give the decoder's first token: the language that is chosen, or what ends a text
        where the model does not say it.

        Some models begin with the language (mBART), the others with a token of their own and write the language first.
        """
        if self.abilities.kind != "encoder-decoder":
            return {}
        if (language := self.pieces.language_id) is None:
            end = self._stated("eos_token_id")
            is_begun = self._stated("decoder_start_token_id") is not None or end is None
            return {} if is_begun else {"decoder_start_token_id": end}
        if not self._begins_with_language:
            return {"forced_bos_token_id": language}
        again = {} if self._stated("forced_bos_token_id") is None else {"forced_bos_token_id": language}
        return {"decoder_start_token_id": language, **again}

    def allowed(self, logits: Float[Tensor, "*row vocab"]) -> Float[Tensor, "*row vocab"]:
        """The same, −∞ for the tokens that generation_config.json never lets a model write, as Marian's padding."""
        never = self._never(logits)
        return logits.index_fill(-1, never, -torch.inf) if len(never) else logits

    def _never(self, logits: Float[Tensor, "*row vocab"]) -> Int[Tensor, "id"]:
        settings = getattr(self.model, "generation_config", None)
        words, tokens = (getattr(settings, name, None) for name in ("bad_words_ids", "suppress_tokens"))
        words = words if isinstance(words, list) else []
        alone = [word[0] for word in words if isinstance(word, list) and len(word) == 1]
        never = [*alone, *tokens] if isinstance(tokens, list) else alone
        ids = [token_id for token_id in never if isinstance(token_id, int) and 0 <= token_id < logits.size(-1)]
        return torch.tensor(ids, dtype=torch.long, device=logits.device)

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokenizer, which spells ids as tokens."""
        return self.pieces

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of special tokens, which are not text."""
        return self.pieces.special_ids

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes."""
        return self.pieces.byte_ids

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows, and may write."""
        # The settings of two models joined have no number of their own.
        size = getattr(self.config, "vocab_size", None)
        says_others = (self.pieces.has_two_vocabularies or size is None) and library.has_words(self.model)
        return library.words(self.model) if says_others else int(size or library.vocab_size(self.model))

    def _stated(self, setting: str) -> int | None:
        """A token that the model's settings name."""
        settings = getattr(self.model, "generation_config", None)
        stated = (getattr(holder, setting, None) for holder in (self.config, settings))
        # A text may end with one of several tokens.
        firsts = (token[0] if isinstance(token, list) and token else token for token in stated)
        return next((token for token in firsts if isinstance(token, int)), None)

    @property
    def _begins_with_language(self) -> bool:
        """Whether the decoder's first token is that of a language, of a model that lets one choose it."""
        begin = self._stated("decoder_start_token_id")
        return begin is None or bool(self.pieces.language_of(begin))

    def begin_before(self, emitted: Sequence[int]) -> tuple[int, ...]:
        """The tokens that the decoder of an encoder–decoder reads before these; of most models one."""
        language, begin = self.pieces.language_id, self._stated("decoder_start_token_id")
        if language is not None and self._begins_with_language:
            return (language,)
        # Without a word of the model, a target begins with the token that ends it, as mBART's do with the language.
        return (int(emitted[-1]) if begin is None else begin,)

    def first_target(self, source_ids: Sequence[int]) -> tuple[int, ...]:
        """What the decoder of an encoder–decoder reads before the first token that it chooses."""
        forced = self.start_options.get("forced_bos_token_id", self._stated("forced_bos_token_id"))
        return (*self.begin_before(source_ids), *([] if forced is None else [forced]))

    def _read_only(
        self, text: str, target: str | None, source: Encoded, keep_outputs: bool, edits: Edits | None
    ) -> Trace:
        if target is not None:
            message = "This model ({family}) only reads: it has no decoder that could read a target."
            raise InputTextError(message, family=self.abilities.family)
        return self.trace_source(text, source, keep_outputs, edits)

    def trace_source(self, text: str, source: Encoded, keep_outputs: bool, edits: Edits | None) -> Trace:
        """A trace of an encoder that has read these tokens of a text."""
        done = self._run(source.ids, (), keep_outputs, edits, source.token_inputs)
        return Trace(
            reader_key=self.key,
            source=self.source_of(text, source),
            inputs=done.inputs,
            recorded=done.recorded,
            special_tokens=self.pieces.special_tokens,
            roles=source.segments,
            token_inputs=source.token_inputs,
        )

    def source_of(self, text: str, read: Encoded) -> Source:
        """What a trace keeps of what the encoder read."""
        return TextSource(text=text, ids=read.ids, tokens=read.tokens, own_names=read.names)

    def trace_place(self, place: TokenPlace, token: int, edits: Edits | None = None) -> Trace:
        """A trace of what is read at a place where this token is said; with edits of heads, for this run alone."""
        if self.abilities.kind == "encoder":
            read = Encoded(place.source, self.pieces.tokens(place.source), token_inputs=place.token_inputs)
            return self.trace_source("", read, False, edits)
        if self.abilities.kind == "decoder":
            return self.trace_rows("", place.target, (), edits=edits)
        begin = place.target[: len(self.begin_before(place.target))]
        return self.trace_rows("", place.source, [*place.target[len(begin) :], token], begin=begin, edits=edits)

    def run_again(self, trace: Trace, *, edits: Edits | None = None) -> Any:
        """What the library's model returns for what a trace read, under the trace's edits, or these named ones."""
        source, target = trace.source_ids, trace.target_ids
        wanted = trace.edits if edits is None else edits
        hooks = head_edits(wanted, self.abilities, num_source=len(source), num_target=len(target))
        with listen(edits=hooks):
            return self.model.base_model(  # type: ignore[operator]
                **self.arguments(source, target, token_inputs=trace.token_inputs)
            )

    def arguments(
        self, source_ids: Sequence[int], target_ids: Sequence[int], copies: int = 1, token_inputs: TokenInputs = ()
    ) -> dict[str, Any]:
        """What the model is called with to read these tokens once, so many copies side by side."""
        given = self.read_first(source_ids or target_ids, copies)
        for name, values in token_inputs:
            if name in self._read_beside:
                given[name] = torch.tensor([list(values)] * copies, device=self.device)
        if source_ids and target_ids:
            given["decoder_input_ids"] = torch.tensor([list(target_ids)] * copies, device=self.device)
        if target_ids:
            given["use_cache"] = False
        return given

    def read_first(self, ids: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """What the model is called with for its first stack to read these, so many copies side by side."""
        return read_rows(torch.tensor([list(ids)] * copies, device=self.device))

    @cached_property
    def _read_beside(self) -> frozenset[str]:
        """The arguments that a tokenizer may give an encoder, with its head and without; none of a model that writes.

        `generate` is given ids and their mask alone, also by the library's own pipelines.
        """
        if self.abilities.kind != "encoder":
            return frozenset()
        model: Any = self.model
        both = (inspect.signature(each.forward).parameters for each in (model, model.base_model))
        return frozenset.intersection(*map(frozenset, both))

    @torch.inference_mode()
    def _run(
        self,
        source_ids: Sequence[int],
        target_ids: Sequence[int],
        keep_outputs: bool,
        edits: Edits | None,
        token_inputs: TokenInputs = (),
    ) -> Pass:
        functions = head_edits(edits, self.abilities, num_source=len(source_ids), num_target=len(target_ids))
        given = self.arguments(source_ids, target_ids, token_inputs=token_inputs)
        if not self.abilities.knows_inputs:
            given["output_attentions"] = True
        # What comes after each token of a long text nobody asks for, and it may take as long as all the rest.
        has_logits = bool(target_ids) and are_steps_wanted() and library.has_words(self.model)
        wants_logits = has_logits and (bool(source_ids) or len(target_ids) <= LONGEST_WITH_STEPS)
        # A changed head may have read other values than a matrix made.
        is_lean = bool(source_ids and target_ids) and self.abilities.knows_inputs and not functions
        lean = self.layout.leaner(lambda: given["encoder_outputs"].last_hidden_state[0]) if is_lean else functions
        with listen(record={CALL, OUTPUTS} if keep_outputs else {CALL}, edits=lean) as recorded:
            if is_lean:
                given["encoder_outputs"] = library.encoder(self.model)(**self.read_first(source_ids))
            output = (self.model if wants_logits else self.model.base_model)(**given)  # type: ignore[operator]
        logits = output.logits[0].float() if wants_logits else None
        if logits is not None:
            # In place: of a long transcript they are as large as all that is kept.
            logits = logits.index_fill_(-1, self._never(logits), -torch.inf).cpu()
        if not self.abilities.knows_inputs:
            return Pass(weights_of(output, self.abilities, self.config), MappingProxyType({}), logits)
        return Pass(self.layout.inputs(recorded), self.layout.outputs(recorded), logits)

    @torch.inference_mode()
    def checked_tokens(
        self, text: str, what: str, limit: int | None, *, is_target: bool = False, with_special: bool = True
    ) -> Encoded:
        """The tokens of a text, `what` in errors. Raises an InputTextError if it is blank, too long or unknown."""
        check_not_blank(text, what)
        encoded = None
        second = "" if is_target else self.second
        if limit is None or len(text) + len(second) <= LONGEST_PIECE * limit:
            encoded = self.pieces.encode(text, second, is_target=is_target, with_special=with_special)
        if encoded is None or (limit is not None and len(encoded.ids) > limit):
            is_of_pairs = self.abilities.positions == "relative bias"
            why = said("The relative positions of this model need RAM for each pair of tokens.") if is_of_pairs else ""
            assert limit is not None
            raise too_long(text, what, limit, None if encoded is None else len(encoded.ids), why)
        self._check_known(encoded, self.vocab_size if is_target else library.vocab_size(self.model))
        is_bare = self.pieces.special_ids.issuperset(encoded.ids)
        if is_bare and not self.pieces.encode(text, is_target=is_target, with_special=False).ids:
            raise nothing_seen(what)
        return encoded

    def _check_known(self, encoded: Encoded, size: int) -> None:
        """Make sure that the model has an embedding for every token: tokens are sometimes added to a tokenizer only."""
        for number, token in zip(encoded.ids, encoded.tokens, strict=True):
            if number >= size:
                message = (
                    "The tokenizer gives “{token}” the id {number:,}, but the ids of this model end at {vocab_size:,}. "
                    "Remove it from the text, or save the model again after "
                    "`model.resize_token_embeddings(len(tokenizer))`."
                )
                raise InputTextError(message, token=token, number=number, vocab_size=size - 1)
        types = dict(encoded.token_inputs).get("token_type_ids", (0,))
        known = getattr(self.config, "type_vocab_size", 0)
        if known and "token_type_ids" in self._read_beside and max(types) >= known:
            message = (
                "This model reads single texts: its tokenizer gives the second text the type {number}, but the "
                "model's types of tokens end at {last}. Remove the second text."
            )
            raise InputTextError(message, number=max(types), last=known - 1)
