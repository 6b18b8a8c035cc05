"""Gradient × input (Shrikumar et al. 2016) and integrated gradients (Sundararajan et al. 2017).

Both are Captum's. An input is a token's (scaled) embedding without its position; its attribution is the sum over
dimensions, and says by its sign whether the token speaks for or against the choice.
"""

from typing import Final

import torch
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice, TokenScores
from model.analysis.attribution.choice_run import ChoiceRun

#: Points on the way from nothing to the embeddings, by Gauss–Legendre.
STEPS: Final = 32


def gradient_times_input(run: ChoiceRun) -> TokenScores:
    """The derivative of the choice by each embedding, times that embedding.

    Raises:
        TraceError: the embeddings cannot be told.
    """
    from captum.attr import InputXGradient

    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    with torch.enable_grad():
        return _summed(run.choice, InputXGradient(run.of_embeddings).attribute(inputs))


def integrated_gradients(run: ChoiceRun, steps: int = STEPS) -> tuple[TokenScores, float]:
    """The mean gradient on the straight way from zero embeddings to the real ones, times these, and what is missing.

    With ever more steps the scores add up to what the choice gains on that way; the second number (nats) says how far
    they are from it.

    Raises:
        TraceError: the embeddings cannot be told.
    """
    from captum.attr import IntegratedGradients

    inputs = tuple(own.requires_grad_() for own in run.embeddings())
    with torch.enable_grad():
        attributed = IntegratedGradients(run.of_embeddings).attribute(
            inputs, baselines=(0.0,) * len(inputs), n_steps=steps, internal_batch_size=run.copies
        )
    with torch.no_grad():
        gained = run.of_embeddings(*inputs) - run.of_embeddings(*map(torch.zeros_like, inputs))
    scores = _summed(run.choice, attributed)
    return scores, float(scores.source.sum() + scores.prefix.sum() - gained.cpu())


def _summed(choice: TokenChoice, attributed: tuple[Tensor, ...]) -> TokenScores:
    sums = iter([scores[0].sum(-1).detach().float().cpu() for scores in attributed])
    return TokenScores(*(next(sums) if side else torch.zeros(0) for side in (choice.source, choice.prefix)))
