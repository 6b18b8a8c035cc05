"""Compare what a model says at one step with the targets it could be trained towards: one-hot, and smoothed (§5.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.word_choice import Chooser


@dataclass(frozen=True)
class StepLoss:
    """A step's loss against a smoothed target, and which way its gradient moves the right token's logit."""

    one_hot: float  #: −log p of the right token, in nats
    smoothed: float  #: cross entropy against the smoothed target, in nats
    least: float  #: the entropy of that target: no model can have a lower loss against it
    probability: float  #: p of the right token
    target: float  #: what the smoothed target asks for it, 1 − ε + ε / vocabulary
    #: of the smoothed loss by the right token's logit, p − target; above 0, a step of training lowers it.
    gradient: float
    #: log of how many times the right token is likelier than any other where the loss is least; infinite without
    #: smoothing.
    best_margin: float


def smoothed_target(vocab_size: int, token_id: int, smoothing: float) -> Float[Tensor, "vocab"]:
    """1 − ε for the right token, and ε spread evenly over the vocabulary (Szegedy et al. 2016, §7)."""
    target = torch.full((vocab_size,), smoothing / vocab_size)
    target[token_id] += 1 - smoothing
    return target


def step_loss(log_probs: Float[Tensor, "vocab"], token_id: int, smoothing: float) -> StepLoss:
    """The loss of a step whose right token this is.

    What a model never writes, as Marian's padding, is no part of the vocabulary: else the loss would be infinite.
    """
    is_written = log_probs.isfinite()
    log_probs, token_id = log_probs[is_written], int(is_written[:token_id].sum())
    vocab_size = len(log_probs)
    target = smoothed_target(vocab_size, token_id, smoothing)
    probability, asked = float(log_probs[token_id].exp()), float(target[token_id])
    other = smoothing / vocab_size
    return StepLoss(
        one_hot=-float(log_probs[token_id]),
        smoothed=-float((target * log_probs).sum()),
        least=float(torch.special.entr(target).sum()),
        probability=probability,
        target=asked,
        gradient=probability - asked,
        best_margin=float(torch.tensor(asked / other).log()) if other else float("inf"),
    )


@torch.inference_mode()
def step_log_probs(translator: Chooser, text: str, read: Sequence[int]) -> Float[Tensor, "vocab"]:
    """log p of every token after those that the decoder has read, <s> first, in nats, float32.

    Raises an InputTextError if the text is blank or too long.
    """
    place = replace(translator.place(text), target=tuple(read), row=len(read) - 1)
    return translator.place_logits(place)[0].log_softmax(-1).cpu()
