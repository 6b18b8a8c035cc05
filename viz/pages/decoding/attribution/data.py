"""What every method of attribution gives each word, and how it does in the deletion test, as a job."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.access import word_links
from viz.core.background_jobs import Progress, Task

if TYPE_CHECKING:
    from model import Trace, Translator
    from model.analysis.attribution.deletion import Deletion
    from model.analysis.attribution.methods import Method


@dataclass(frozen=True, eq=False)
class Explained:
    """A written token explained.

    Attributes:
        words: of the sentence, as people read them.
        scores: method → what it gives each word, the sum over its tokens.
        written: method → what it gives all that had been written before; None where it looks at the source alone.
        deletions: method → the words hidden in its order.
        random: the same in random orders.
        missing: how far integrated gradients are from adding up (nats).
    """

    words: tuple[str, ...]
    scores: "Mapping[Method, Float[np.ndarray, 'word']]"
    written: "Mapping[Method, float | None]"
    deletions: "Mapping[Method, Deletion]"
    random: "tuple[Deletion, ...]"
    missing: float

    @property
    def best(self) -> "Method":
        """The method whose order makes the choice fall fastest."""
        return max(self.deletions, key=lambda method: self.deletions[method].fall)

    def beaten(self, method: "Method") -> int:
        """How many random orders fall more slowly than a method's."""
        return sum(drawn.fall < self.deletions[method].fall for drawn in self.random)


def explaining(translator: "Translator", trace: "Trace", step: int, against: int | None) -> Task[Explained]:
    """Every method on the token of a step, from 0, alone or against another."""
    known = word_links.words(trace)
    words, groups = known.labels[: known.num_source], known.groups[: known.num_source]

    def compute(progress: Progress) -> Explained:
        from model.analysis.attribution.choice import choice_at
        from model.analysis.attribution.deletion import delete, order_of, random_orders
        from model.analysis.attribution.methods import METHODS, attribute

        found = {}
        for method in METHODS:
            found[method] = attribute(translator, trace, step, method, against)
            progress(1)
        scores = {
            method: np.array([float(each.source[list(group)].sum()) for group in groups])
            for method, each in found.items()
        }
        orders = [*(order_of(of_words.tolist()) for of_words in scores.values()), *random_orders(len(words))]
        hidden = delete(translator.model, choice_at(trace, step, against), groups, orders, progress)
        missing = found["integrated"].missing
        assert missing is not None, "integrated gradients say how far they are from adding up"
        return Explained(
            words=words,
            scores=scores,
            written={
                method: None if each.prefix is None else float(each.prefix.sum()) for method, each in found.items()
            },
            deletions=dict(zip(METHODS, hidden, strict=False)),
            random=tuple(hidden[len(METHODS) :]),
            missing=missing,
        )

    return Task(("attribution", trace.key, step, against), 0, "runs", compute, "Computing: {done:,} {unit}")
