"""Call `generate` of `transformers`, or take over the settings that it prepared."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from model.abilities import Abilities
from model.adapters.library import quiet
from model.adapters.limited_process import first_words
from model.decoding.search import EXTRA_LENGTH
from model.errors import HeadlightError, SessionError

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


@dataclass(frozen=True, eq=False)
class Beginning:
    """How `generate` would begin to write.

    Attributes:
        token_ids: what the decoder reads first: the text, or the token that begins a target.
        encoded: what the decoder is given in every step: the encoder's output and its mask; nothing without one.
        rules: from the tokens read [row, position] and scores of the next [row, vocab] to scores with all that the
            model's own settings ask for: tokens that must or must not come.
        eos_ids: each of them ends a text.
    """

    token_ids: tuple[int, ...]
    encoded: Mapping[str, Any]
    rules: Callable[[Tensor, Tensor], Tensor]
    eos_ids: tuple[int, ...]
    length_penalty: float
    early_stopping: bool | str


def begin_writing(model: Any, token_ids: Tensor, most: int, options: Mapping[str, Any]) -> Beginning:
    """Let `generate` prepare everything, and take it over before it writes; the encoder has run then.

    At most `most` tokens may be written after the text's `token_ids` [1, position]; `options` are those of `generate`.

    Raises:
        SessionError: the model's own settings for writing cannot be used.
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
        return input_ids

    _generate(model, token_ids, most, {**options, "custom_generate": take_over})
    return taken[0]


def write_greedily(model: Any, token_ids: Tensor, most: int, options: Mapping[str, Any]) -> list[int]:
    """What `generate` writes; arguments and errors are those of `begin_writing`."""
    written: list[int] = _generate(model, token_ids, most, options)[0].tolist()
    return written


def _generate(model: Any, token_ids: Tensor, most: int, options: Mapping[str, Any]) -> Tensor:
    with quiet(), settings_for_writing():
        generated: Tensor = model.generate(
            token_ids, attention_mask=torch.ones_like(token_ids), max_new_tokens=most, max_length=None,
            do_sample=False, num_beams=1, **options,
        )  # fmt: skip
    return generated


@contextmanager
def settings_for_writing() -> Iterator[None]:
    """What goes wrong in the block is the doing of generation_config.json, which is read where it is used.

    Raises:
        SessionError: a rule that it asks for does not fit the model.
    """
    try:
        yield
    except (HeadlightError, torch.OutOfMemoryError):
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
        raise SessionError(
            "This model cannot write: its generation_config.json does not fit it ({first_line}).",
            first_line=first_words(error),
        ) from error
