"""Unfinished translations side by side in one batch: read one more token of each, and keep some of them."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.nn.encoder_decoder import EncoderDecoder

EXTRA_LENGTH = 50
"""A translation may be this many tokens longer than its source (§6.1)."""


def length_limits(
    source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
) -> Int[Tensor, "batch"]:
    """`EXTRA_LENGTH` tokens more than each source has, its </s> not counted."""
    if source_padding is None:
        source_padding = torch.ones_like(source_ids, dtype=torch.bool)
    return source_padding.sum(1) - 1 + EXTRA_LENGTH


@runtime_checkable
class Prefixes(Protocol):
    """Unfinished texts of any model, one a row, for searching and drawing."""

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Logits of the next token, after reading one more token of every row."""

    def log_probs(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """The same as log-probabilities in float32, by which beams are compared."""

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order, with repetitions."""


class PrefixBatch:
    """Unfinished translations, one a row, each with its memory and the cached keys and values of its prefix.

    Attributes:
        sentences: which sentence of the source each row translates.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        memory: Float[Tensor, "batch source width"],
        source_padding: Bool[Tensor, "batch source"] | None,
    ) -> None:
        self.sentences: Tensor = torch.arange(memory.size(0), device=memory.device)
        self._model, self._memory, self._padding = model, memory, source_padding
        self._cache = model.new_cache()

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Logits of the next token, after reading one more token of every row."""
        hidden = self._model.decode(last[:, None], self._memory, self._padding, cache=self._cache)
        return self._model.projection(hidden[:, -1])  # type: ignore[no-any-return]

    def log_probs(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """The same as log-probabilities in float32."""
        return self.logits(last).float().log_softmax(-1)

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order, with repetitions."""
        sentences = self.sentences[rows]
        if torch.equal(sentences, self.sentences):
            self._cache.select_prefixes(rows)
            return
        self._cache.select(rows)
        self._memory = self._memory[rows]
        self._padding = None if self._padding is None else self._padding[rows]
        self.sentences = sentences
