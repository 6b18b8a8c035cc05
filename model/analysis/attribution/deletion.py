"""The deletion test: hide the words that an attribution names first, and see how fast the choice becomes improbable.

Comprehensiveness of DeYoung et al. 2020 ("ERASER"), over every number of words, as in Samek et al. 2017: the mean over
1, 2 … all words hidden of how far the choice fell. An attribution is as good as the words that it names first are
needed; words in random order say what to beat.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from model.analysis.attribution.choice import visible
from model.analysis.attribution.choice_run import ChoiceRun

#: So many random orders.
DRAWS = 20


@dataclass(frozen=True, eq=False)
class Deletion:
    """The choice (nats) with 0, 1, 2 … words hidden, in one order.

    Attributes:
        order: words in the order in which they are hidden.
        values: one more than there are words.
    """

    order: tuple[int, ...]
    values: Float[np.ndarray, "hidden"]

    @property
    def fall(self) -> float:
        """By how much the choice falls (nats), on average over 1, 2 … all words hidden."""
        return float((self.values[0] - self.values[1:]).mean())


def random_orders(words: int, draws: int = DRAWS, seed: int = 0) -> list[tuple[int, ...]]:
    """Words in random orders, the same for the same seed."""
    rng = np.random.default_rng(seed)
    return [tuple(map(int, rng.permutation(words))) for _ in range(draws)]


def order_of(scores: Sequence[float]) -> tuple[int, ...]:
    """Words by what an attribution gives them, most first."""
    return tuple(map(int, np.argsort(-np.asarray(scores), kind="stable")))


def most_runs(words: int, orders: int) -> int:
    """How many runs `delete` takes at most: with nothing hidden, with everything, and each order's own between."""
    return 2 + orders * max(0, words - 1)


@torch.no_grad()
def delete(
    run: ChoiceRun,
    words: Sequence[Sequence[int]],
    orders: Sequence[Sequence[int]],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Deletion]:
    """Hide words in each of these orders, one more at each step.

    Args:
        run: whose choice.
        words: the positions of each word's tokens in the text that is read.
        orders: of these words, by their numbers.
        progress: called with the number of runs done, and of all; sets of words that occur twice run once.
    """
    sets = sorted({frozenset(order[:count]) for order in orders for count in range(len(order) + 1)}, key=sorted)
    found: dict[frozenset[int], float] = {}
    for start in range(0, len(sets), run.copies):
        some = sets[start : start + run.copies]
        seen = visible(len(run.choice.read), [[at for word in hidden for at in words[word]] for hidden in some])
        found |= zip(some, run.of_seen(seen).tolist(), strict=True)
        progress(len(found), len(sets))
    return [
        Deletion(tuple(order), np.array([found[frozenset(order[:count])] for count in range(len(order) + 1)]))
        for order in orders
    ]
