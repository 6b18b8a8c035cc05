"""The deletion test: hide the words that an attribution names first, and see how fast the choice becomes improbable.

Comprehensiveness of DeYoung et al. 2020 ("ERASER"), over every number of words, as in Samek et al. 2017: the mean over
1, 2 … all words hidden of how far the choice fell. It tests an order of words, and only by hiding several together: the
word that the choice needs most by itself may come late in the best order. So each word is hidden alone as well
("leave one out", Li et al. 2016, "Understanding Neural Networks through Representation Erasure").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from model.analysis.attribution.choice import ChoiceRun, visible
from model.interruption import no_progress

#: So many random orders.
DRAWS = 20


@dataclass(frozen=True, eq=False)
class Deletion:
    """The choice (nats) with 0, 1, 2 … words hidden, in one order."""

    order: tuple[int, ...]  #: words in the order in which they are hidden
    values: Float[np.ndarray, "hidden"]  #: one more than there are words

    @property
    def fall(self) -> float:
        """By how much the choice falls (nats), on average over 1, 2 … all words hidden."""
        return float((self.values[0] - self.values[1:]).mean())


@dataclass(frozen=True, eq=False)
class HiddenAlone:
    """What hiding each single word does to the choice."""

    before: float  #: the choice (nats) with nothing hidden
    values: Float[np.ndarray, "word"]  #: the choice with each word hidden
    #: said_before, said: ids of the tokens that the model says there, as `TokenChoice.said` has it.
    said_before: int
    said: tuple[int, ...]

    @property
    def losses(self) -> Float[np.ndarray, "word"]:
        """How much of the choice (nats) is lost without each word."""
        return self.before - self.values

    @property
    def most_needed(self) -> int:
        """The word whose loss is largest."""
        return int(self.losses.argmax())

    @property
    def changes(self) -> tuple[int, ...]:
        """The words without which the model says another token, the largest loss first."""
        found = [word for word, token in enumerate(self.said) if token != self.said_before]
        return tuple(sorted(found, key=lambda word: -self.losses[word]))


def random_orders(words: int) -> list[tuple[int, ...]]:
    """Words in `DRAWS` random orders, each time the same."""
    rng = np.random.default_rng(0)
    return [tuple(map(int, rng.permutation(words))) for _ in range(DRAWS)]


def order_of(scores: Sequence[float]) -> tuple[int, ...]:
    """Words by what an attribution gives them, most first."""
    return tuple(map(int, np.argsort(-np.asarray(scores), kind="stable")))


def most_runs(words: int, orders: int) -> int:
    """How many runs `delete` takes at most: with nothing, each word, everything, and each order's own sets between."""
    return 1 + words + (words > 1) + orders * max(0, words - 2)


@torch.no_grad()
def delete(
    run: ChoiceRun,
    words: Sequence[Sequence[int]],
    orders: Sequence[Sequence[int]],
    progress: Callable[[int, int], None] = no_progress,
) -> tuple[list[Deletion], HiddenAlone]:
    """Hide words in each of these orders, one more at each step; and each word alone.

    Args:
        words: the positions of each word's tokens in the text that is read.
        orders: of these words, by their numbers.
        progress: called with the number of runs done, and of all; sets of words that occur twice run once.
    """
    nothing: frozenset[int] = frozenset()
    alone = [frozenset({word}) for word in range(len(words))]
    in_order = (frozenset(order[:count]) for order in orders for count in range(len(order) + 1))
    sets = sorted({nothing, *alone, *in_order}, key=sorted)
    found: dict[frozenset[int], float] = {}
    said: dict[frozenset[int], int] = {}
    for start in range(0, len(sets), run.copies):
        some = sets[start : start + run.copies]
        seen = visible(len(run.choice.read), [[at for word in hidden for at in words[word]] for hidden in some])
        logits = run.seen_logits(seen)
        found |= zip(some, run.choice.of_logits(logits).tolist(), strict=True)
        said |= zip(some, run.choice.said(logits).tolist(), strict=True)
        progress(len(found), len(sets))
    deletions = [
        Deletion(tuple(order), np.array([found[frozenset(order[:count])] for count in range(len(order) + 1)]))
        for order in orders
    ]
    values = np.array([found[word] for word in alone])
    return deletions, HiddenAlone(found[nothing], values, said[nothing], tuple(said[word] for word in alone))
