"""QK and OV of the heads of a model, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import later
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.analysis.head_circuits import HeadCircuits
    from model.reader import Reader

#: A head's are four matrices as long as the vocabulary.
MAX_HEADS: Final = 2


@cached(max_entries=MAX_HEADS)
def circuits(reader: "Reader", site: str, layer: int, head: int) -> "HeadCircuits":
    """QK and OV of a head, from 0."""
    if isinstance(reader, later.translator.Translator):
        return later.head_circuits.head_circuits(reader.model, site, layer, head)
    assert isinstance(reader, later.text_reader.TextReader)
    return later.library_circuits.library_circuits(reader, layer, head)


def copying(reader: "Reader", site: str) -> Task[Float[np.ndarray, "layer head"]]:
    """The copying score of every head of an attention."""

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        if isinstance(reader, later.translator.Translator):
            return later.head_circuits.copying_scores(reader.model, site, progress).numpy()
        assert isinstance(reader, later.text_reader.TextReader)
        return later.library_circuits.library_copying(reader, progress).numpy()

    return Task(("copying", reader.key, site), len(reader.abilities.heads[site]), said("layers"), compute)
