"""By which tokens of its own a speech model of `transformers` is told what to write: language, task and timestamps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from model.adapters import library
from model.adapters.library_tokenizer import LibraryTokenizer
from model.languages import Offered, html_language


@dataclass(frozen=True)
class Prompt:
    """By which tokens a model is told what to write (Radford et al. 2022, §2.3): its own, by their names."""

    begin: int  #: the first token
    languages: Mapping[str, int]  #: by their codes; none of a model that hears one
    tasks: Mapping[str, int]  #: by their names; none of a model that does one
    no_times: int | None  #: told where no timestamps are to be written; None of a model that writes none
    timestamps: Mapping[int, str]  #: id → as it is called, "<|0.02|>"


#: Of a model that is told nothing.
NO_PROMPT: Final = Prompt(0, {}, {}, None, {})
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


def offered_by(prompt: Prompt) -> Offered:
    """What may be chosen: the language that is spoken, and what is to be written."""
    tasks = tuple(prompt.tasks) or (TRANSCRIBE,)
    times = ("",) if prompt.no_times is None else ("", WITH_TIMES)
    writes = tuple(f"{task}{end}" for end in times for task in tasks)
    return Offered(tuple(prompt.languages), writes, ("", TRANSCRIBE))
