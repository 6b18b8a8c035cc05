"""QK and OV of the heads of a translator, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.core.caching import cached

if TYPE_CHECKING:
    from model import Translator
    from model.analysis.head_circuits import HeadCircuits

#: A head's are four matrices as long as the vocabulary.
MAX_HEADS: Final = 2
MAX_SITES: Final = 16


@cached(max_entries=MAX_HEADS)
def circuits(translator: "Translator", site: str, layer: int, head: int) -> "HeadCircuits":
    """QK and OV of a head, from 0."""
    from model.analysis.head_circuits import head_circuits

    return head_circuits(translator.model, site, layer, head)


@cached(max_entries=MAX_SITES)
def copying(translator: "Translator", site: str) -> Float[np.ndarray, "layer head"]:
    """The copying score of every head of an attention."""
    from model.analysis.head_circuits import copying_scores

    return copying_scores(translator.model, site).numpy()
