"""The masks of texts that share a batch."""

from typing import Final

from model import BatchMasks
from model.reader import Writer
from viz.server.caches import cached

MAX_BATCHES: Final = 64


@cached(max_entries=MAX_BATCHES)
def batch_masks(writer: Writer, texts: tuple[str, ...]) -> BatchMasks:
    """The masks of texts that share a batch, as the model uses them."""
    return writer.masks(texts)
