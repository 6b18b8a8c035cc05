"""QK and OV of the heads of a model, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

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
    from model.analysis.head_circuits import head_circuits
    from model.translator import Translator

    if isinstance(reader, Translator):
        return head_circuits(reader.model, site, layer, head)
    from model.adapters.text_reader import TextReader
    from model.analysis.library_circuits import library_circuits

    assert isinstance(reader, TextReader)
    return library_circuits(reader, layer, head)


def copying(reader: "Reader", site: str) -> Task[Float[np.ndarray, "layer head"]]:
    """The copying score of every head of an attention."""

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        from model.analysis.head_circuits import copying_scores
        from model.translator import Translator

        if isinstance(reader, Translator):
            return copying_scores(reader.model, site, progress).numpy()
        from model.adapters.text_reader import TextReader
        from model.analysis.library_circuits import library_copying

        assert isinstance(reader, TextReader)
        return library_copying(reader, progress).numpy()

    return Task(("copying", reader.key, site), len(reader.abilities.heads[site]), said("layers"), compute)
