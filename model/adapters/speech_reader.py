"""Read sound with speech models of `transformers` through the same `Trace`: frames of their encoder are its tokens."""

import copy
import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from torch import Tensor, nn

from model.abilities import Abilities, View
from model.adapters import library
from model.adapters.base_reader import BaseReader
from model.adapters.capture import head_edits
from model.adapters.layout import OUTPUTS, Layout, weights_of
from model.adapters.library_parts import LibraryParts
from model.adapters.library_tokenizer import Encoded, LibraryTokenizer
from model.adapters.placement import device_of
from model.adapters.probe import Probe
from model.adapters.text_writer import TextWriter
from model.errors import CheckpointError, InputTextError, TraceError, said
from model.languages import NOTHING_OFFERED, Offered, html_language
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.parts.parts import Parts
from model.parts.weights import Stack
from model.sources.sound_file import Sound, as_sound, open_sound
from model.sources.source import SoundSource, Source, Waveform
from model.trace.trace import Trace

#: What is not shown of a model that reads sound.
LACKS: Final[Mapping[View, str]] = {
    "circuits": said("This model reads frames of sound; QK and OV are computed for tokens."),
    "positional encodings": said("The encoder of this model reads sound, so it has no embeddings of tokens."),
    "embeddings": said("The encoder of this model reads sound, so it has no embeddings of tokens."),
    "batch masks": said("The picture of a padded batch reads sentences; this model reads sound."),
    "switches": said("Parts are removed while a model translates sentences; this model reads sound."),
    "alignment links": said("Manual word alignments are of sentences; this model reads sound."),
}
#: Seconds of two sounds that show how many numbers a second of sound is, and of the one that is read for the proof.
_SHOWN: Final = (10, 20)
_PROVEN: Final = 1.0
#: What a number of a feature extractor's settings may be at most; others are of no size.
_MOST: Final[Mapping[str, int]] = {
    "sampling_rate": 192_000, "n_fft": 65_536, "hop_length": 65_536, "chunk_length": 60, "feature_size": 1_024,
    "num_mel_bins": 1_024, "win_length": 65_536, "stride": 64, "n_samples": 60 * 192_000, "nb_max_frames": 60 * 192_000,
}  # fmt: skip


def check_extractor(settings: Mapping[str, Any]) -> None:
    """Raise a CheckpointError if a feature extractor's settings ask for sound of no size, or of one beyond reason."""
    for name, most in _MOST.items():
        number = settings.get(name, 1)
        if not isinstance(number, int) or not 1 <= number <= most:
            message = "The feature extractor's settings say {name} = {number}; 1 to {most:,} can be read."
            raise CheckpointError(message, name=name, number=ascii(number)[:40], most=most)


@dataclass(frozen=True, eq=False)
class Ear:
    """What makes of a sound the numbers that a model's encoder reads, and which moment each of its frames is of."""

    model: Any
    processor: Any
    axis: int  #: of the numbers, the one that is time
    seconds_per_frame: float
    #: how long a sound may be, and to which length every shorter one is filled up with silence; None for any.
    seconds: float | None

    @classmethod
    @torch.inference_mode()
    def of(cls, model: Any, processor: Any) -> "Ear":
        """That of a model. Raises a CheckpointError if it is not known which moment a frame of it is of."""
        made = cls(model, processor, -1, 0.0, None)
        short, long = (made.numbers(probe_sound(made.rate, seconds)) for seconds in _SHOWN)
        sizes = tuple(zip(short[made.name].shape, long[made.name].shape, strict=True))
        read = made.numbers(probe_sound(made.rate))
        rows = made.encoded(read).last_hidden_state.size(1)
        if long[made.name].shape == short[made.name].shape:
            samples = getattr(processor, "n_samples", 0)
            axis = next((axis for axis, (_, size) in enumerate(sizes) if made._rows(size) == rows), None)
            seconds = samples / made.rate
            per_frame = seconds / rows
        else:
            axis = next(axis for axis, (one, other) in enumerate(sizes) if one != other)
            per_number = (_SHOWN[1] - _SHOWN[0]) / (sizes[axis][1] - sizes[axis][0])
            axis = axis if made._rows(read[made.name].size(axis)) == rows else None
            far = 10**7
            per_frame, seconds = per_number * far / max(1, made._rows(2 * far) - made._rows(far)), None
        if axis is None or not per_frame:
            raise CheckpointError(
                "This folder contains a speech model ({kind}). Headlight cannot tell which moment of a sound each "
                "position of its encoder covers, so its attention cannot be shown.",
                kind=library.name_of(model.config),
            )
        return cls(model, processor, axis, round(per_frame, 6), seconds)

    @property
    def name(self) -> str:
        """The argument of the model that is sound."""
        return str(self.model.main_input_name)

    @property
    def rate(self) -> int:
        """Samples a second."""
        return int(self.processor.sampling_rate)

    def numbers(self, sound: Sound) -> dict[str, Tensor]:
        """What the encoder is given of a sound at this rate.

        Raises an InputTextError if it is longer than what is read at once, or silent where that cannot be read.
        """
        if self.seconds is not None and sound.seconds > self.seconds:
            message = "The sound has {seconds:.1f} s, and this model reads at most {most:g} s at once. Choose a window."
            raise InputTextError(message, seconds=sound.seconds, most=self.seconds)
        with np.errstate(all="ignore"):
            given = self.processor(sound.samples, sampling_rate=self.rate, return_tensors="pt")
        if self.name not in given:
            message = "The feature extractor in the folder gives {given}, but the model reads {name}. Copy its own."
            raise CheckpointError(message, given=", ".join(given), name=self.name)
        made = given[self.name]
        if not bool(made.isfinite().all()):
            raise InputTextError("This model cannot read silence: choose a sound, or a window, in which there is any.")
        return {self.name: made.to(device_of(self.model), next(self.model.parameters()).dtype)}

    def frames(self, numbers: Mapping[str, Tensor]) -> int:
        """How many rows the encoder puts out for these. Raises an InputTextError if there is none."""
        rows = self._rows(numbers[self.name].size(self.axis))
        if rows < 1:
            raise InputTextError("The sound is too short for this model. Choose a longer one.")
        return rows

    def encoded(self, numbers: Mapping[str, Tensor]) -> Any:
        """What the encoder puts out."""
        model = self.model
        with library.settings_of_model(model):
            return (model.get_encoder() if model.config.is_encoder_decoder else model.base_model)(**numbers)

    def _rows(self, size: int) -> int:
        known = getattr(self.model, "_get_feat_extract_output_lengths", None)
        return 0 if known is None else int(known(torch.tensor(size)))

    def waveform(self, sound: Sound) -> Waveform:
        """A sound at this rate, as a trace keeps it."""
        return Waveform(samples=torch.from_numpy(sound.pcm), rate=self.rate, seconds_per_frame=self.seconds_per_frame)

    def probe(self, target: Sequence[int]) -> Probe:
        """What is read to prove the model; its decoder reads some of these tokens."""
        numbers = self.numbers(probe_sound(self.rate))
        return Probe(tuple(range(self.frames(numbers))), tuple(target), numbers)


def probe_sound(rate: int, seconds: float = _PROVEN) -> Sound:
    """Noise with a falling tone: no part of it is like another, and it is the same every time."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(1).normal(0, 0.05, len(time))
    return Sound((noise + 0.3 * np.sin(2 * np.pi * (600 - 200 * time) * time)).astype(np.float32), rate)


class Heard:
    """What is read in place of a text: a sound, at the rate of a model."""

    ear: Ear

    def __init__(self, ear: Ear, name: str, sound: Sound) -> None:
        self.ear, self.name, self.sound = ear, name, sound.resampled(ear.rate)
        samples = hashlib.sha256(self.sound.samples.tobytes()).hexdigest()
        self.key = f"/{name}/{samples}"

    @cached_property
    def numbers(self) -> Mapping[str, Tensor]:
        """What the encoder is given. Raises as `Ear.numbers`."""
        return self.ear.numbers(self.sound)

    @cached_property
    def source(self) -> SoundSource:
        """What a trace keeps of it. Raises as `Ear.numbers` and `Ear.frames`."""
        return SoundSource.of_frames(self.name, self.ear.waveform(self.sound), self.ear.frames(self.numbers))

    @cached_property
    def encoded(self) -> Any:
        """What the encoder makes of it, in a run of its own: who listens to another one does not hear or edit it."""
        numbers = self.numbers
        with torch.inference_mode():
            return Context().run(lambda: self.ear.encoded(numbers))

    def read(self, ids: Sequence[int], copies: int) -> dict[str, Any]:
        """The arguments with which the model reads all of its frames; or, of a part of them, what they became."""
        if tuple(ids) == self.source.ids:
            return {name: _copied(value, copies) for name, value in self.numbers.items()}
        return self.memory(ids, copies)

    def memory(self, ids: Sequence[int], copies: int = 1) -> dict[str, Any]:
        """The arguments with which a decoder attends to these frames, counted round where they are fewer."""
        rows = self.encoded.last_hidden_state
        chosen = rows[:, [each % rows.size(1) for each in ids]]
        return {"encoder_outputs": type(self.encoded)(last_hidden_state=_copied(chosen, copies))}


def _copied(value: Tensor, copies: int) -> Tensor:
    return value.expand(copies, *[-1] * (value.dim() - 1))


@dataclass(frozen=True)
class Prompt:
    """By which tokens a model is told what to write (Radford et al. 2022, §2.3): its own, by their names."""

    begin: int  #: the first token
    languages: Mapping[str, int]  #: by their codes; none of a model that hears one
    tasks: Mapping[str, int]  #: by their names; none of a model that does one
    no_times: int | None  #: told where no timestamps are to be written; None of a model that writes none
    timestamps: Mapping[int, str]  #: id → as it is called, "<|0.02|>"


_NONE: Final = Prompt(0, {}, {}, None, {})
TRANSCRIBE: Final = "transcribe"
TRANSLATE: Final = "translate"
#: What is written with timestamps is chosen by this after its name.
WITH_TIMES: Final = "-timestamps"
_LANGUAGE: Final = re.compile(r"<\|([a-z]{2,3})\|>")
#: With fewer tokens, Whisper hears English alone (`is_multilingual` in whisper/model.py of OpenAI).
_MULTILINGUAL: Final = 51_865
#: Between two timestamps of Whisper, in seconds (§2.3).
_APART: Final = 0.02


def prompt_of(model: Any, pieces: LibraryTokenizer) -> Prompt | None:
    """By which tokens a model is told what to write; None of one that is told nothing.

    What generation_config.json does not say is taken from the tokenizer, and completed there for `generate`.
    """
    if not library.takes_prompt(model):
        return None
    settings: Any = model.generation_config
    special = {pieces.tokens([token_id])[0]: token_id for token_id in sorted(pieces.special_ids)}
    is_multilingual = getattr(settings, library.IS_MULTILINGUAL, hasattr(settings, "lang_to_id"))
    if not hasattr(settings, library.IS_MULTILINGUAL) and not is_multilingual:
        is_multilingual = model.config.vocab_size >= _MULTILINGUAL
    languages = {
        code[1]: token_id
        for token, token_id in (getattr(settings, "lang_to_id", None) or special).items()
        if (code := _LANGUAGE.fullmatch(token)) and html_language(code[1])
    }
    named = getattr(settings, "task_to_id", None) or {
        task: special.get(f"<|{task}|>") for task in (TRANSCRIBE, TRANSLATE)
    }
    tasks = {task: named[task] for task in (TRANSCRIBE, TRANSLATE) if named.get(task) is not None}
    no_times = getattr(settings, "no_timestamps_token_id", None) or special.get("<|notimestamps|>")
    settings.is_multilingual = bool(is_multilingual and languages and tasks)
    if settings.is_multilingual:
        settings.lang_to_id = {f"<|{code}|>": token_id for code, token_id in languages.items()}
        settings.task_to_id = tasks
    times = range(0) if no_times is None else range(no_times + 1, model.config.vocab_size)
    if no_times is not None:
        settings.no_timestamps_token_id = no_times
    return Prompt(
        begin=settings.decoder_start_token_id,
        languages=languages if settings.is_multilingual else {},
        tasks=tasks if settings.is_multilingual else {},
        no_times=no_times,
        timestamps={token_id: f"<|{number * _APART:.2f}|>" for number, token_id in enumerate(times)},
    )


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
        made.__dict__.pop("_begin", None)
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
        self._offered = NOTHING_OFFERED if self.prompt is None else _offered(self.prompt)
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
        prompt = self.prompt or _NONE
        told = [] if not prompt.languages else [prompt.languages[self._language], prompt.tasks[self._task]]
        without = [] if self._has_times or prompt.no_times is None else [prompt.no_times]
        return (prompt.begin, *told, *without)

    @property
    def start_options(self) -> Mapping[str, Any]:
        """See `TextTracer`; what is told is told to `generate` too, which is to write no more than one window."""
        if self.prompt is None:
            return super().start_options
        spoken = {"language": f"<|{self._language}|>", "task": self._task} if self.prompt.languages else {}
        return {"return_timestamps": self._has_times, "force_unique_generate_call": True, **spoken}

    def most_steps(self, source_ids: Sequence[int]) -> int:
        """See `TextTracer`; what is told counts among the tokens of a target."""
        most, limit = super().most_steps(source_ids), self.abilities.max_target_length
        return most if limit is None else min(most, limit - len(self.begin_before(source_ids)))

    @property
    def _task(self) -> str:
        return self._spoken[1].removesuffix(WITH_TIMES)

    @property
    def _has_times(self) -> bool:
        return self._spoken[1].endswith(WITH_TIMES)

    @property
    def _language(self) -> str:
        """The code of what is spoken: as chosen, else the likeliest after the token that begins (§2.3)."""
        if self._spoken[0]:
            return self._spoken[0]
        return self._likeliest

    @property
    def _likeliest(self) -> str:
        prompt = self.prompt or _NONE
        begin = torch.tensor([[prompt.begin]], device=self.device)
        codes = list(prompt.languages)
        with torch.inference_mode():
            given = self.given().memory(range(len(self.given().source.ids)))
            logits: Tensor = self.model(**given, decoder_input_ids=begin, use_cache=False).logits[0, -1]
        return codes[int(logits[list(prompt.languages.values())].argmax())]


def _offered(prompt: Prompt) -> Offered:
    """What may be chosen: the language that is spoken, and what is to be written."""
    tasks = tuple(prompt.tasks) or (TRANSCRIBE,)
    times = ("",) if prompt.no_times is None else ("", WITH_TIMES)
    writes = tuple(f"{task}{end}" for end in times for task in tasks)
    return Offered(tuple(prompt.languages), writes, ("", TRANSCRIBE))


def _spaced(text: str) -> str:
    return text if text[:1].isspace() else f" {text}"
