"""Read sound with speech models of `transformers` through the same `Trace`: frames of their encoder are its tokens."""

import copy
from collections.abc import Collection, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import torch
from torch import Tensor, nn

from model.abilities import NOT_AS_THE_PAPER, Abilities, View
from model.adapters import library
from model.adapters.base_reader import BaseReader
from model.adapters.capture import head_edits
from model.adapters.ear import Ear, Heard, probe_sound
from model.adapters.layout import OUTPUTS, Layout, weights_of
from model.adapters.library_parts import LibraryParts
from model.adapters.library_tokenizer import Encoded, LibraryTokenizer
from model.adapters.speech_prompt import NO_PROMPT, TRANSLATE, WITH_TIMES, offered_by, prompt_of
from model.adapters.text_writer import TextWriter
from model.errors import InputTextError, TraceError, said
from model.languages import NOTHING_OFFERED, Offered, html_language
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.parts.parts import Parts
from model.parts.weights import Stack
from model.sources.sound_file import Sound, as_sound, open_sound
from model.sources.source import Source
from model.trace.trace import Trace

#: What is not shown of a model that reads sound.
LACKS: Final[Mapping[View, str]] = {
    "circuits": said("This model reads frames of sound; QK and OV are computed for tokens."),
    "positional encodings": said("The encoder of this model reads sound, so it has no embeddings of tokens."),
    "embeddings": said("The encoder of this model reads sound, so it has no embeddings of tokens."),
    "batch masks": said("The picture of a padded batch reads sentences; this model reads sound."),
    "switches": said("Parts are removed while a model translates sentences; this model reads sound."),
    "alignment links": said("Manual word alignments are of sentences; this model reads sound."),
    "hyperparameters": NOT_AS_THE_PAPER,
}


class Hearing(BaseReader):
    """A reader that reads the sound that it is given, whatever the text."""

    ear: Ear
    heard: Heard | None = None

    @property
    def key(self) -> str:
        """Names this content, and the sound that is heard whatever the text."""
        return super().key + ("" if self.heard is None else self.heard.key)

    def reading(self, name: str, content: Any) -> Self:
        """See `model.reader.Reader`: a `Sound`."""
        made = copy.copy(self)
        made.heard = Heard(self.ear, name, as_sound(content))
        for found in ("_begin", "_likeliest"):
            made.__dict__.pop(found, None)
        return made

    def trace_sound(
        self, sound: Sound, *, name: str = "sound", extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Hear a sound. The trace calls it `name`. Raises as `trace`."""
        return self.reading(name, sound).trace("", extras=extras, edits=edits)  # type: ignore[attr-defined, no-any-return]

    def of_file(self, path: str) -> Self:
        """The same, which reads what it is given, else the sound in this file. Raises as `open_sound`."""
        return self if self.heard is not None else self.reading(Path(path).name, open_sound(Path(path)))

    def given(self) -> Heard:
        """The sound. Raises an InputTextError if there is none, or it is too long or too short for the model."""
        if self.heard is None:
            raise InputTextError(
                "This model reads sound, and none was given to it. Choose one on the left; in Python, use reading()."
            )
        frames, most = len(self.heard.source.ids), self.abilities.max_length
        if most is not None and frames > most:
            message = "The sound is {frames:,} frames of this model, which reads at most {most:,}. Choose a window."
            raise InputTextError(message, frames=frames, most=most)
        return self.heard


@dataclass(frozen=True, eq=False)
class SoundParts(Parts):
    """What is known of an encoder of sound alone."""

    abilities: Abilities
    why = said("It reads frames of sound, not tokens; its heads are on the Attention page.")


class SoundReader(Hearing):
    """A loaded model of `transformers` that hears and does not write. Safe to share between threads."""

    #: special_ids, byte_ids: none, as frames are of no vocabulary.
    special_ids: frozenset[int] = frozenset()
    byte_ids: frozenset[int] = frozenset()

    def __init__(
        self, model: nn.Module, layout: Layout, abilities: Abilities, *, ear: Ear, name: str, digest: str
    ) -> None:
        super().__init__(model, layout, abilities, name=name, digest=digest)
        self.ear = ear

    @property
    def parts(self) -> SoundParts:
        """See `model.reader.Reader`."""
        return SoundParts(self.abilities)

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """None."""
        return ()

    @torch.inference_mode()
    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Hear the sound that is given, or that in the file `text`.

        Raises as `Reader.trace`, or an InputTextError if the file is none that can be heard, or there is a target.
        """
        if self.heard is None:
            return self.of_file(text).trace("", target, extras=extras, edits=edits)
        if target is not None:
            message = "This model ({family}) only hears: it has no decoder that could read a target."
            raise InputTextError(message, family=self.abilities.family)
        self.checked_extras(extras)
        heard = self.given()
        functions = head_edits(edits, self.abilities, num_source=len(heard.source.ids), num_target=0)
        more = {} if self.abilities.knows_inputs else {"output_attentions": True}
        with listen(record={CALL, OUTPUTS} & {CALL, *extras}, edits=functions) as recorded:
            output = self.model(**heard.numbers, **more)
        return Trace(
            reader_key=self.key,
            source=heard.source,
            inputs=weights_of(output, self.abilities, self.config) if more else self.layout.inputs(recorded),
            recorded=self.layout.outputs(recorded),
            special_tokens=frozenset(),
        )


@dataclass(frozen=True, eq=False)
class SpeechParts(LibraryParts):
    """The parts of a model that hears and writes: its encoder is run over all of a sound, or its decoder over a part of
    what the encoder makes of it.
    """

    reader: "SpeechReader"

    def _arguments(self, ids: Sequence[int], stack: Stack | None = None) -> dict[str, Any]:
        heard = self.reader.given()
        read = heard.read(heard.source.ids, 1) if stack == "encoder" else heard.memory(ids)
        return read | {"decoder_input_ids": torch.tensor([list(ids)], device=self.reader.device), "use_cache": False}

    def _run(self, ids: Sequence[int], positions: Tensor | None = None) -> None:
        heard, model = self.reader.given(), self.reader.model
        heard.ear.encoded(heard.numbers)
        model.base_model(**self._arguments(ids))  # type: ignore[operator]

    def _few(self, trace: Trace, stack: Stack, rows: Sequence[int]) -> dict[str, Any]:
        if stack == "encoder":
            return self._arguments(trace.target_ids[:1], stack)
        return self._arguments([trace.target_ids[row] for row in rows])


class SpeechReader(Hearing, TextWriter):
    """A loaded speech model of `transformers` that writes, with what hears for it. Safe to share between threads.

    It reads the sound that it is given (`reading`), whatever the text.
    """

    def __init__(
        self,
        model: nn.Module,
        pieces: LibraryTokenizer,
        layout: Layout,
        abilities: Abilities,
        *,
        ear: Ear,
        name: str,
        digest: str,
    ) -> None:
        self.prompt = prompt_of(model, pieces)
        named = {} if self.prompt is None else self.prompt.timestamps
        super().__init__(model, pieces.naming(named), layout, abilities, name=name, digest=digest)
        self.ear = ear
        self._offered = NOTHING_OFFERED if self.prompt is None else offered_by(self.prompt)
        self._spoken = self._offered.chosen
        self.languages = self._languages

    @property
    def key(self) -> str:
        """Names this content, the sound that is heard whatever the text, and what is to be written."""
        return "/".join((super().key, *filter(None, self._spoken)))

    @property
    def parts(self) -> SpeechParts:
        """See `model.reader.Reader`. They are looked for in the sound that is given, else in one that proves."""
        return SpeechParts(self if self.heard is not None else self.reading("", probe_sound(self.ear.rate)))

    @property
    def offered(self) -> Offered:
        """See `model.reader.Reader`: what is spoken, and what is written, by names of the model's own tokens."""
        return self._offered

    @property
    def alignment_heads(self) -> tuple[tuple[int, int], ...]:
        """Layer and head of each head by which the model's times of words are made, as generation_config.json lists
        them; none if it does not, or lists what is no head.
        """
        stated = getattr(self.model.generation_config, library.ALIGNMENT_HEADS, None) or ()
        heads = self.abilities.heads.get("decoder.cross", ())
        # A list, for what a file lists need not be hashable.
        known = [(layer, head) for layer, count in enumerate(heads) for head in range(count)]
        listed = [tuple(pair) if isinstance(pair, list) else None for pair in stated]
        return tuple(pair for pair in listed if pair in known) if all(pair in known for pair in listed) else ()

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """See `model.reader.Reader`; without a choice of what is spoken, the model finds out."""
        if not (reads or writes):
            return self
        made = copy.copy(self)
        made._spoken = replace(self._offered, chosen=self._spoken).with_choice(reads, writes)
        made.languages = made._languages
        made.__dict__.pop("_begin", None)
        return made

    @property
    def _languages(self) -> tuple[str, str]:
        """What is spoken and written, as HTML names languages."""
        if self.prompt is None or not self.prompt.languages:
            return ("en", "en") if self.prompt is not None else ("", "")
        reads, writes = self._spoken
        return html_language(reads), "en" if writes.startswith(TRANSLATE) else html_language(reads)

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Hear the sound that is given, or that in the file `text`, and write; or write a `target` about it.

        Raises as `TextTracer.trace`, or an InputTextError if the file is none that can be heard.
        """
        if self.heard is None:
            return self.of_file(text).trace("", target, extras=extras, edits=edits)
        return super().trace(text, target, extras=extras, edits=edits)

    def source(self, text: str) -> Encoded:
        """The frames of the sound that is given. Raises an InputTextError if there is none, or it is too long."""
        source = self.given().source
        return Encoded(source.ids, source.tokens)

    def source_offsets(self, text: str) -> None:
        """None: frames are of no characters."""

    def source_of(self, text: str, read: Encoded) -> Source:
        """See `TextTracer`."""
        return self.given().source

    def read_first(self, ids: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """See `TextTracer`."""
        return self.given().read(ids, copies)

    def run_again(self, trace: Trace, *, edits: Edits | None = None) -> Any:
        """See `TextTracer`. Raises a TraceError if the trace is of another sound than the one that is given."""
        if trace.reader_key != self.key:
            raise TraceError("This trace is of another sound than the one that the model is given now.")
        return super().run_again(trace, edits=edits)

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """Every token that it may write; of what it reads there is none."""
        return () if of_source else super().all_tokens()

    def target_ids(self, text: str) -> tuple[int, ...]:
        """The tokens of what may be written, with the one that ends it, as the model writes: a blank goes before."""
        what, limit = said("The target"), self.abilities.max_target_length
        ids = self.checked_tokens(_spaced(text), what, limit, is_target=True, with_special=False).ids
        return (*ids, *sorted(self.end_ids)[:1])

    def target_offsets(self, text: str) -> list[tuple[int, int]] | None:
        """See `TextTracer`."""
        spaced = _spaced(text)
        moved = len(spaced) - len(text)
        found = self.pieces.offsets(spaced, is_target=True, with_special=False)
        if found is None:
            return None
        ends = [(0, 0)] * len(sorted(self.end_ids)[:1])
        return [*((max(0, begin - moved), max(0, end - moved)) for begin, end in found), *ends]

    def begin_before(self, emitted: Sequence[int]) -> tuple[int, ...]:
        """What the decoder is told before it writes: to begin, what is spoken, what to do, and whether without
        timestamps.
        """
        return super().begin_before(emitted) if self.prompt is None else self._begin

    @cached_property
    def _begin(self) -> tuple[int, ...]:
        prompt = self.prompt or NO_PROMPT
        told = [] if not prompt.languages else [prompt.languages[self._language], prompt.tasks[self.task]]
        without = [] if self._has_times or prompt.no_times is None else [prompt.no_times]
        return (prompt.begin, *told, *without)

    @property
    def start_options(self) -> Mapping[str, Any]:
        """See `TextTracer`; what is told is told to `generate` too, which is to write no more than one window."""
        if self.prompt is None:
            return super().start_options
        spoken = {"language": f"<|{self._language}|>", "task": self.task} if self.prompt.languages else {}
        return {"return_timestamps": self._has_times, "force_unique_generate_call": True, **spoken}

    def most_steps(self, source_ids: Sequence[int]) -> int:
        """See `TextTracer`; what is told counts among the tokens of a target."""
        most, limit = super().most_steps(source_ids), self.abilities.max_target_length
        return most if limit is None else min(most, limit - len(self.begin_before(source_ids)))

    @property
    def task(self) -> str:
        """What it does with what it hears: "transcribe" or "translate"; "" of a model without tasks."""
        return self._spoken[1].removesuffix(WITH_TIMES)

    @property
    def _has_times(self) -> bool:
        return self._spoken[1].endswith(WITH_TIMES)

    @property
    def _language(self) -> str:
        """The code of what is spoken: as chosen, else the likeliest after the token that begins (§2.3)."""
        return self._spoken[0] or self._likeliest

    @cached_property
    def _likeliest(self) -> str:
        prompt = self.prompt or NO_PROMPT
        begin = torch.tensor([[prompt.begin]], device=self.device)
        given = self.given().memory(range(len(self.given().source.ids)))
        with torch.inference_mode():
            # In a run of its own, as of its encoder: an edit of heads does not change what is told.
            output = Context().run(lambda: self.model(**given, decoder_input_ids=begin, use_cache=False))
        likelihoods = output.logits[0, -1, list(prompt.languages.values())]
        return list(prompt.languages)[int(likelihoods.argmax())]


def _spaced(text: str) -> str:
    return text if text[:1].isspace() else f" {text}"
