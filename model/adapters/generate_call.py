"""Call `generate` of `transformers`, or take over the settings that it prepared and run several texts by them."""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.library import keeps_rows, new_cache, quiet
from model.adapters.limited_process import first_words
from model.adapters.placement import device_of
from model.decoding.search import EXTRA_LENGTH
from model.errors import HeadlightError, SessionError
from model.nn.hooks import rows_from

LONGEST_CONTINUATION: Final = 100
"""A decoder-only model may write this many tokens after a text; some never end by themselves."""


def most_steps(abilities: Abilities, num_source: int) -> int:
    """Tokens that a model may write about a text, or after it, of so many tokens.

    An encoder–decoder `EXTRA_LENGTH` more than it read (§6.1), a decoder-only model `LONGEST_CONTINUATION`, and neither
    more than its positions allow; the last token need not be read.
    """
    if abilities.kind == "encoder-decoder":
        most, limit = num_source + EXTRA_LENGTH, abilities.max_target_length
    else:
        most, limit = LONGEST_CONTINUATION, abilities.max_length
        limit = None if limit is None else limit - num_source + 1
    return most if limit is None else min(most, limit)


@dataclass(frozen=True, eq=False, kw_only=True)
class Beginning:
    """How `generate` would begin to write; by default with nothing read and no rules."""

    token_ids: tuple[int, ...] = ()  #: what the decoder reads first: the text, or the token that begins a target
    #: what the decoder is given in every step: the encoder's output and its mask; nothing without one.
    encoded: Mapping[str, Any] = field(default_factory=dict)
    #: from the tokens read [row, position] and scores of the next [row, vocab] to scores with all that the model's own
    #: settings ask for: tokens that must or must not come.
    rules: Callable[[Tensor, Tensor], Tensor] = lambda _token_ids, scores: scores
    eos_ids: tuple[int, ...] = ()  #: each of them ends a text
    length_penalty: float = 0.0
    early_stopping: bool | str = False


def begin_writing(model: Any, read: Mapping[str, Any], most: int, options: Mapping[str, Any]) -> Beginning:
    """Let `generate` prepare everything, and take it over before it writes; the encoder has run then.

    At most `most` tokens may be written after what is `read`, the arguments of its first stack for one text
    (`TextTracer.read_first`); `options` are those of `generate`. Raises a SessionError if the model's own settings for
    writing cannot be used.
    """
    taken: list[Beginning] = []

    def take_over(
        _model: Any, input_ids: Tensor, logits_processor: Any, generation_config: Any, **given: Any
    ) -> Tensor:
        ends, outputs = generation_config._eos_token_tensor, given.get("encoder_outputs")
        mask = given.get("attention_mask")
        taken.append(
            Beginning(
                token_ids=tuple(input_ids[0].tolist()),
                encoded={} if outputs is None else {"encoder_outputs": outputs, "attention_mask": mask},
                rules=logits_processor,
                eos_ids=() if ends is None else tuple(ends.tolist()),
                length_penalty=float(generation_config.length_penalty or 0.0),
                early_stopping=generation_config.early_stopping or False,
            )
        )
        # Some classes (Whisper) look at what was written afterwards: one token is.
        return torch.cat((input_ids, input_ids[:, :1]), dim=1)

    _generate(model, read, most, {**options, "custom_generate": take_over})
    return taken[0]


def write_greedily(model: Any, read: Mapping[str, Any], most: int, options: Mapping[str, Any]) -> list[list[int]]:
    """What `generate` writes of each text, padded; arguments (of one text or several) and errors as `begin_writing`."""
    written: list[list[int]] = _generate(model, read, most, options).tolist()
    return written


def _generate(model: Any, read: Mapping[str, Any], most: int, options: Mapping[str, Any]) -> Tensor:
    with quiet(), settings_for_writing():
        generated: Tensor = model.generate(
            **read, max_new_tokens=most, max_length=None, do_sample=False, num_beams=1, **options
        )
    return generated


@contextmanager
def settings_for_writing() -> Iterator[None]:
    """What goes wrong in the block raises a SessionError: generation_config.json, read there, does not fit it."""
    try:
        yield
    except (HeadlightError, torch.OutOfMemoryError):
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
        message = "This model cannot generate text: its generation_config.json does not fit it ({first_line})."
        raise SessionError(message, first_line=first_words(error)) from error


class GenerationRows:
    """Texts of one beginning, one a row. What is cached is never written in place, so copies share it.

    Where nothing is cached (not `caches`), all is read again in every step.
    """

    def __init__(self, model: nn.Module, beginning: Beginning, *, caches: bool = True) -> None:
        self._model, self._beginning, self._caches = model, beginning, caches
        self._has_encoder = bool(beginning.encoded)
        self._cache = new_cache(self._has_encoder)
        self._read = torch.empty(1, 0, dtype=torch.long, device=device_of(model))
        # The logits of a long text's every token would take more memory than all else.
        self._last_only = {"logits_to_keep": 1} if keeps_rows(model) else {}

    def __len__(self) -> int:
        return self._read.size(1)

    def read(self, token_ids: Int[Tensor, "row new"]) -> Float[Tensor, "row vocab"]:
        """Read more tokens of every row; the model's own scores of what follows, in float32."""
        first, name = len(self), "decoder_input_ids" if self._has_encoder else "input_ids"
        read = torch.cat((self._read.expand(token_ids.size(0), -1), token_ids), dim=1)
        given: dict[str, Any] = {name: token_ids, "past_key_values": self._cache, "use_cache": True}
        if not self._caches:
            given, first = {name: read, "use_cache": False}, 0
        with rows_from(first):
            output = self._model(**given, **self._encoded(), **self._last_only)
        self._read = read
        logits: Tensor = output.logits[:, -1].float()
        return logits

    def ruled(self, scores: Float[Tensor, "row vocab"]) -> Float[Tensor, "row vocab"]:
        """Scores by all the model's settings, −∞ for what must not come. Raises a SessionError if one does not fit."""
        with settings_for_writing():
            return self._beginning.rules(self._read, scores)

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Read one more token of every row, and say what may follow it."""
        return self.ruled(self.read(last[:, None]))

    def log_probs(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """The same as log-probabilities; as in `generate`, beams meet the rules after the softmax."""
        return self.ruled(self.read(last[:, None]).log_softmax(-1))

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order; one may be named more than once."""
        if self._caches:
            self._cache.batch_select_indices(rows)
        self._read = self._read[rows]

    def truncate(self, length: int) -> None:
        """Forget every token from `length` on."""
        if length == 0:
            self._cache = new_cache(self._has_encoder)
        elif length < len(self) and self._caches:
            own = self._cache.self_attention_cache if self._has_encoder else self._cache
            own.crop(length - len(self))
        self._read = self._read[:, :length]

    def copy(self) -> "GenerationRows":
        """The same texts, to go on elsewhere."""
        copied = copy.copy(self)
        copied._cache = _copy_cache(self._cache)
        return copied

    def _encoded(self) -> dict[str, Any]:
        """What the encoder said, for as many rows as there are."""
        if not self._has_encoder:
            return {}
        count = self._read.size(0)
        outputs, mask = copy.copy(self._beginning.encoded["encoder_outputs"]), self._beginning.encoded["attention_mask"]
        for name, value in outputs.items():
            # Some encoders of sound put out which of their rows are of it, too.
            outputs[name] = value.expand(count, *[-1] * (value.dim() - 1)) if isinstance(value, Tensor) else value
        return {"encoder_outputs": outputs, "attention_mask": None if mask is None else mask.expand(count, -1)}


def _copy_cache(cache: Any) -> Any:
    copied = copy.copy(cache)
    if hasattr(cache, "self_attention_cache"):
        copied.self_attention_cache = _copy_cache(cache.self_attention_cache)
        copied.cross_attention_cache = _copy_cache(cache.cross_attention_cache)
        copied.is_updated = dict(cache.is_updated)
    else:
        copied.layers = [copy.copy(layer) for layer in cache.layers]
    return copied
