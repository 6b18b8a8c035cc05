"""Read sound with speech models of `transformers` through the same `Trace`: frames of their encoder are its tokens."""

from collections.abc import Collection, Mapping, Sequence
from contextvars import Context
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import torch

from model.adapters import library
from model.adapters.base_reader import Opened
from model.adapters.ear import Ear, Heard, probe_sound
from model.adapters.given import EncoderReader, Given, GivenReader, GivenWriter, Opening
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.speech_prompt import NO_PROMPT, TRANSLATE, WITH_TIMES, offered_by, prompt_of
from model.errors import InputTextError, said
from model.languages import NOTHING_OFFERED, html_language
from model.nn.edit_hooks import Edits
from model.sources.sound_file import Sound, as_sound, open_sound
from model.trace.trace import Trace


class Hearing(GivenReader):
    """A reader that reads the sound that it is given, whatever the text."""

    none_given = said(
        "This model reads sound, and none was given to it. Choose one on the left; in Python, use reading()."
    )
    another_given = said("This trace is of a different sound from the one the model is given now.")
    ear: Ear

    def perceived(self, name: str, content: Any) -> Heard:
        """See `GivenReader`: of a `Sound`."""
        return Heard(self.ear, name, as_sound(content))

    def opened(self, path: Path) -> Sound:
        """The sound in a file. Raises as `open_sound`."""
        return open_sound(path)

    @property
    def probing(self) -> Sound:
        """See `GivenReader`."""
        return probe_sound(self.ear.rate)

    def trying(self) -> Self:
        """See `GivenReader`."""
        return self.holding(Heard(self.ear, "", self.probing, self.ear.most_tried))

    def trace_sound(
        self, sound: Sound, *, name: str = "sound", extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Hear a sound. The trace calls it `name`. Raises as `trace`."""
        return self.reading(name, sound).trace("", extras=extras, edits=edits)

    def given(self) -> Given:
        """The sound. Raises an InputTextError if there is none, or it is too long or too short for the model."""
        given = super().given()
        frames, most = len(given.source.ids), self.abilities.max_length
        if most is not None and frames > most:
            message = (
                "The sound has {frames:,} frames for this model, which reads at most {most:,}. Choose a part of it."
            )
            raise InputTextError(message, frames=frames, most=most)
        return given


class SoundReader(Hearing, EncoderReader):
    """A loaded model of `transformers` that hears and does not write. Safe to share between threads."""

    def __init__(self, opened: Opened, sense: Ear) -> None:
        super().__init__(opened)
        self.ear = sense


class SpeechReader(Hearing, GivenWriter):
    """A loaded speech model of `transformers` that writes, with what hears for it. Safe to share between threads.

    It reads the sound that it is given (`reading`), whatever the text. What it writes begins with a blank.
    """

    before_target = " "

    def __init__(self, opened: Opened, pieces: LibraryTokenizer, sense: Ear) -> None:
        self.prompt = prompt_of(opened.model, pieces)
        super().__init__(opened, pieces.naming({} if self.prompt is None else self.prompt.timestamps))
        self.ear = sense
        self._offered = NOTHING_OFFERED if self.prompt is None else offered_by(self.prompt)
        self._told = self._offered.chosen
        self.languages = self._languages

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
        made = super().speaking(reads, writes)
        if made is not self:
            made.languages = made._languages
            made.__dict__.pop("_begin", None)
        return made

    @property
    def _languages(self) -> tuple[str, str]:
        """What is spoken and written, as HTML names languages."""
        if self.prompt is None or not self.prompt.languages:
            return ("en", "en") if self.prompt is not None else ("", "")
        reads, writes = self._told
        return html_language(reads), "en" if writes.startswith(TRANSLATE) else html_language(reads)

    def holding(self, given: Given) -> Self:
        """See `GivenReader`."""
        made = super().holding(given)
        for found in ("_begin", "_likeliest"):
            made.__dict__.pop(found, None)
        return made

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

    @property
    def task(self) -> str:
        """What it does with what it hears: "transcribe" or "translate"; "" of a model without tasks."""
        return self._told[1].removesuffix(WITH_TIMES)

    @property
    def _has_times(self) -> bool:
        return self._told[1].endswith(WITH_TIMES)

    @property
    def _language(self) -> str:
        """The code of what is spoken: as chosen, else the likeliest after the token that begins (§2.3)."""
        return self._told[0] or self._likeliest

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


OPENING: Final = Opening(
    Ear.in_folder,
    SoundReader,
    SpeechReader,
    mixed=dict.fromkeys(
        (*library.GIVEN["sound"], "audio"),
        said(
            "This folder contains a model that reads sound together with other input ({kind}). Headlight does not open "
            "such models yet."
        ),
    ),
)
