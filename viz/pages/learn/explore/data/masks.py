"""The masks of texts that share a batch."""

from typing import Final

from model import BatchMasks, Translator
from viz.server.caches import cached

MAX_BATCHES: Final = 64


@cached(max_entries=MAX_BATCHES)
def batch_masks(translator: Translator, texts: tuple[str, ...]) -> BatchMasks:
    """The masks of texts that share a batch, as the model uses them."""
    return translator.masks(texts)
