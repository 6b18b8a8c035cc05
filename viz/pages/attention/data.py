"""QK and OV of the heads of a model, computed once for all viewers."""

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from jaxtyping import Float

from model import later
from viz.access import models
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache
from viz.text.messages import said

if TYPE_CHECKING:
    from model.abilities import Abilities
    from model.analysis.head_circuits import HeadCircuits, TokenPair
    from model.reader import Reader


class OpenHead(NamedTuple):
    """A head, from 0, and how many tokens before its query each key stands, where that counts."""

    site: str
    layer: int
    head: int
    distance: int


#: A head's are four matrices as long as the vocabulary.
MAX_HEADS: Final = 2
_CIRCUITS: "Final[BoundedCache[tuple[str, OpenHead], HeadCircuits]]" = BoundedCache(MAX_HEADS)


def largest_distance(abilities: "Abilities", site: str) -> int:
    """How far a key may stand before its query; 0 where scores by tokens alone have no distance."""
    return later.head_circuits.largest_distance(abilities, site)


def circuits(reader: "Reader", head: OpenHead) -> Task["HeadCircuits"]:
    """QK and OV of a head."""
    site, layer, number, distance = head

    def compute(progress: Progress) -> "HeadCircuits":
        of_head = partial(later.head_circuits.head_circuits, reader, site, layer, number, distance=distance)
        found = _CIRCUITS.get_or_make((reader.key, head), lambda: of_head(progress=progress), lambda found: 0)
        progress.reached(progress.total, progress.total)
        return found

    return Task(("circuits", reader.key, head), len(models.vocabulary(reader)), said("tokens"), compute)


def best_pairs(reader: "Reader", head: OpenHead, circuits: "HeadCircuits", count: int) -> Task[list["TokenPair"]]:
    """The pairs of tokens of the vocabulary that a head links most strongly."""
    compute = partial(circuits.best_pairs, count)
    return Task(("best pairs", reader.key, head, count), len(circuits.queries), said("tokens"), compute)


def copying(reader: "Reader", site: str) -> Task[Float[np.ndarray, "layer head"]]:
    """The copying score of every head of an attention."""

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        return later.head_circuits.copying_scores(reader, site, progress).numpy()

    return Task(("copying", reader.key, site), len(reader.abilities.heads[site]), said("layers"), compute)
