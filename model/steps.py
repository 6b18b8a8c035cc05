"""What one decoding step chose, and from what. Knows nothing of how the logits came about."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.sampling import Sampling, filtered_log_probs

NUM_CANDIDATES = 20


@runtime_checkable
class Vocabulary(Protocol):
    """What tells tokens by their ids: a `Tokenizer`, or that of another model."""

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The tokens of ids."""


@dataclass(frozen=True)
class Candidate:
    """A token that could come next, and its log-probability (nats)."""

    token_id: int
    token: str
    log_prob: float


@dataclass(frozen=True)
class DecodingStep:
    """One emitted token.

    Attributes:
        index: target row, from 0; row i reads `target_tokens[i]` and emits this token.
        token_id, token: the token chosen (by the model, or forced).
        log_prob: its log-probability, in nats.
        entropy: of the whole distribution, in nats.
        candidates: the most probable tokens, best first.
    """

    index: int
    token_id: int
    token: str
    log_prob: float
    entropy: float
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class FilteredCandidate:
    """A token that could come next, and its log-probability (nats) before and after filtering; −∞ if left out."""

    token_id: int
    token: str
    log_prob: float
    filtered_log_prob: float


@dataclass(frozen=True)
class FilteredStep:
    """What one step could draw under a sampling.

    Attributes:
        sampling: temperature, top k and top p.
        candidates: the most probable tokens, best first (filtering changes no order), those left out as well.
        num_kept: tokens of the whole vocabulary that may be drawn.
        kept_mass: probability that the model itself gives to all of these.
        entropy: of the filtered distribution, in nats.
    """

    sampling: Sampling
    candidates: tuple[FilteredCandidate, ...]
    num_kept: int
    kept_mass: float
    entropy: float


def most_probable(logits: Float[Tensor, " vocab"]) -> int:
    """The greedy choice; the lowest id where several are equally probable."""
    return int(logits.argmax())


def describe_step(logits: Float[Tensor, " vocab"], chosen: int, index: int, tokenizer: Vocabulary) -> DecodingStep:
    """Log-probabilities, entropy and candidates of one row of logits; a token at −∞ cannot be written and is none."""
    log_probs = logits.float().log_softmax(-1)
    best = log_probs.topk(min(NUM_CANDIDATES, log_probs.numel()))
    ids = best.indices.tolist()
    named = zip(ids, tokenizer.tokens(ids), best.values.tolist(), strict=True)
    candidates = tuple(Candidate(*one) for one in named if one[2] > -inf)
    (token,) = tokenizer.tokens([chosen])
    return DecodingStep(index, chosen, token, float(log_probs[chosen]), entropy_of(log_probs), candidates)


def describe_filtered(logits: Float[Tensor, " vocab"], sampling: Sampling, tokenizer: Vocabulary) -> FilteredStep:
    """What one row of logits would let be drawn under this sampling; nothing is drawn."""
    log_probs, filtered = logits.float().log_softmax(-1), filtered_log_probs(logits, sampling)
    kept = filtered.isfinite()
    best = log_probs.topk(min(NUM_CANDIDATES, log_probs.numel()))
    ids = best.indices.tolist()
    return FilteredStep(
        sampling=sampling,
        candidates=tuple(
            map(FilteredCandidate, ids, tokenizer.tokens(ids), best.values.tolist(), filtered[ids].tolist())
        ),
        num_kept=int(kept.sum()),
        kept_mass=float(log_probs[kept].exp().sum()),
        entropy=entropy_of(filtered),
    )


def entropy_of(log_probs: Float[Tensor, " vocab"]) -> float:
    """−Σ p log p in nats; 0 · log 0 counts as 0, also where a log-probability is −∞."""
    least = torch.finfo(log_probs.dtype).min
    return max(0.0, -float(log_probs.exp() @ log_probs.clamp_min(least)))
