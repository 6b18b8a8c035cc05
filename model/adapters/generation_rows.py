"""Run several texts that a Hugging Face model is writing side by side, with their key/value cache."""

import copy
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.adapters.generate_call import Beginning, settings_for_writing
from model.adapters.library import keeps_rows, new_cache
from model.adapters.placement import device_of
from model.nn.hooks import rows_from


class GenerationRows:
    """Texts of one beginning, one a row. What is cached is never written in place, so copies share it.

    Args:
        model: that writes.
        beginning: where it begins; its tokens are yet to be read.
        caches: whether keys and values are kept; otherwise all is read again in every step.
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
        """Scores of what follows with all that the model's settings ask for, −∞ for what must not come.

        Raises:
            SessionError: a setting does not fit the model.
        """
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
        outputs["last_hidden_state"] = outputs["last_hidden_state"].expand(count, -1, -1)
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
