"""Gradient × input (Shrikumar et al. 2016) and integrated gradients (Sundararajan et al. 2017).

Both are Captum's. An input is a token's (scaled) embedding without its position; its attribution is the sum over
dimensions, and says by its sign whether the token speaks for or against the choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.attribution.choice import ChoiceRun, TokenChoice, TokenScores

#: Gauss–Legendre points on each stretch of the path from zero to the embeddings, and on all that are tried at most.
POINTS: Final = 16
MOST_POINTS: Final = 1024
#: Stretches are halved until no more than this share of what the choice gains is missing, or so few nats.
TOLERANCE: Final = 0.02
LEAST: Final = 0.002


@dataclass(frozen=True)
class Integration:
    """How well integrated gradients add up to what the choice gains from zero embeddings to the real ones.

    Attributes:
        gained: by the choice, in nats.
        missing: the sum over stretches of |their scores − what the choice gains there|, in nats; all scores together
            are off by no more.
        at_zero: how much of it is missing on the stretch that begins at zero embeddings.
        points: gradients taken.
    """

    gained: float
    missing: float
    at_zero: float
    points: int

    @property
    def is_converged(self) -> bool:
        """Whether no more than `TOLERANCE` of the gain, or than `LEAST`, is missing."""
        return self.missing <= max(TOLERANCE * abs(self.gained), LEAST)


def gradient_times_input(run: ChoiceRun) -> TokenScores:
    """The derivative of the choice by each embedding, times that embedding.

    Raises a TraceError if the embeddings cannot be told.
    """
    from captum.attr import InputXGradient

    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    with torch.enable_grad():
        attributed = InputXGradient(run.of_embeddings).attribute(inputs)
    return _scores(run.choice, _sums(attributed))


def integrated_gradients(
    run: ChoiceRun, progress: Callable[[int], None] = lambda points: None
) -> tuple[TokenScores, Integration]:
    """The mean gradient on the straight path from zero embeddings to the real ones, times these.

    On every stretch of the path the scores should add up to what the choice gains there, which is known. The stretch
    that misses most is halved, until all together miss no more than `TOLERANCE`, or `MOST_POINTS` are used up. Raises a
    TraceError if the embeddings cannot be told.

    Args:
        run: whose choice.
        progress: called with the number of points taken so far.
    """
    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    zero, half, whole = ((share, _value(run, inputs, share)) for share in (0.0, 0.5, 1.0))
    stretches, points = [_stretch(run, inputs, zero, half), _stretch(run, inputs, half, whole)], 2 * POINTS
    progress(points)
    while not (found := _integration(stretches, points)).is_converged and points + 2 * POINTS <= MOST_POINTS:
        worst = max(stretches, key=lambda stretch: stretch.missing)
        middle = (worst.begin[0] + worst.end[0]) / 2
        at = middle, _value(run, inputs, middle)
        stretches.remove(worst)
        stretches += [_stretch(run, inputs, worst.begin, at), _stretch(run, inputs, at, worst.end)]
        points += 2 * POINTS
        progress(points)
    totals = [torch.stack(of_input).sum(0) for of_input in zip(*(stretch.scores for stretch in stretches), strict=True)]
    return _scores(run.choice, totals), found


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A part of the path: where it begins and ends (0 to 1) with the choice there (nats), and scores of each input."""

    begin: tuple[float, float]
    end: tuple[float, float]
    scores: tuple[Float[Tensor, "_"], ...]

    @property
    def missing(self) -> float:
        """|Sum of its scores − what the choice gains on it|, in nats."""
        return abs(float(sum(scores.sum() for scores in self.scores)) - (self.end[1] - self.begin[1]))


def _stretch(
    run: ChoiceRun, inputs: tuple[Tensor, ...], begin: tuple[float, float], end: tuple[float, float]
) -> _Stretch:
    from captum.attr import IntegratedGradients

    first, last = (tuple(own * share for own in inputs) for share in (begin[0], end[0]))
    with torch.enable_grad():
        attributed = IntegratedGradients(run.of_embeddings).attribute(
            last, baselines=first, n_steps=POINTS, internal_batch_size=run.copies
        )
    return _Stretch(begin, end, _sums(attributed))


@torch.no_grad()
def _value(run: ChoiceRun, inputs: tuple[Tensor, ...], share: float) -> float:
    """The choice (nats) so far along the path."""
    return float(run.of_embeddings(*(own * share for own in inputs)))


def _integration(stretches: Sequence[_Stretch], points: int) -> Integration:
    gained = sum(stretch.end[1] - stretch.begin[1] for stretch in stretches)
    missing = sum(stretch.missing for stretch in stretches)
    first = min(stretches, key=lambda stretch: stretch.begin)
    return Integration(gained=gained, missing=missing, at_zero=first.missing, points=points)


def _sums(attributed: Sequence[Tensor]) -> tuple[Float[Tensor, "_"], ...]:
    return tuple(scores[0].sum(-1).detach().double().cpu() for scores in attributed)


def _scores(choice: TokenChoice, sums: Sequence[Tensor]) -> TokenScores:
    each = iter(sums)
    return TokenScores(*(next(each).float() if side else torch.zeros(0) for side in (choice.source, choice.prefix)))
