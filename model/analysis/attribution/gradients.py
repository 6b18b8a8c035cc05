"""Gradient × input (Shrikumar et al. 2016) and integrated gradients (Sundararajan et al. 2017).

Both are Captum's. An input is a token's (scaled) embedding without its position; its attribution is the sum over
dimensions, and says by its sign whether the token speaks for or against the choice.
"""

from functools import partial
from typing import Final, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice
from model.nn.transformer import Transformer

#: Points on the way from nothing to the embeddings, by Gauss–Legendre.
STEPS: Final = 32


class TokenScores(NamedTuple):
    """A number for each token that the encoder read and for each that the decoder read, on the CPU."""

    source: Float[Tensor, "source"]
    prefix: Float[Tensor, "prefix"]


def gradient_times_input(model: Transformer, choice: TokenChoice) -> TokenScores:
    """The derivative of the choice by each embedding, times that embedding."""
    from captum.attr import InputXGradient

    with torch.enable_grad():
        method = InputXGradient(partial(choice.of_embeddings, model))
        return _summed(method.attribute(embeddings(model, choice)))


def integrated_gradients(model: Transformer, choice: TokenChoice, steps: int = STEPS) -> tuple[TokenScores, float]:
    """The mean gradient on the straight way from zero embeddings to the real ones, times these, and what is missing.

    With ever more steps the scores add up to what the choice gains on that way; the second number (nats) says how far
    they are from it.
    """
    from captum.attr import IntegratedGradients

    inputs = embeddings(model, choice)
    with torch.enable_grad():
        method = IntegratedGradients(partial(choice.of_embeddings, model))
        scores = _summed(method.attribute(inputs, baselines=(0.0, 0.0), n_steps=steps))
    with torch.inference_mode():
        gained = choice.of_embeddings(model, *inputs) - choice.of_embeddings(model, *map(torch.zeros_like, inputs))
    return scores, float(scores.source.sum() + scores.prefix.sum() - gained.cpu())


def embeddings(
    model: Transformer, choice: TokenChoice
) -> tuple[Float[Tensor, "1 source d_model"], Float[Tensor, "1 prefix d_model"]]:
    """The scaled embeddings of what encoder and decoder read, apart from the model's graph."""
    parts = zip((model.encoder.embedding, model.decoder.embedding), (choice.source, choice.prefix), strict=True)
    source, prefix = (
        (part.tokens(torch.tensor([ids], device=part.tokens.weight.device)) * part.scale).detach().requires_grad_()
        for part, ids in parts
    )
    return source, prefix


def _summed(attributed: tuple[Tensor, ...]) -> TokenScores:
    return TokenScores(*(scores[0].sum(-1).detach().float().cpu() for scores in attributed))
