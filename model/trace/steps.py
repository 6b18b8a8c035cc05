"""Describe what a decoding step chose: its token, log-probability, entropy and rivals, from a row of logits."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from model.vocabulary import Vocabulary

NUM_CANDIDATES = 20
ROWS_AT_ONCE = 64
"""So many rows of logits are described together: of a large vocabulary more would not be small."""


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


def most_probable(logits: Float[Tensor, " vocab"]) -> int:
    """The greedy choice; the lowest id where several are equally probable."""
    return int(logits.argmax())


def describe_step(logits: Float[Tensor, " vocab"], chosen: int, index: int, tokenizer: Vocabulary) -> DecodingStep:
    """`describe_steps` of a single row."""
    return describe_steps(logits[None], [chosen], index, tokenizer)[0]


@torch.inference_mode()
def describe_steps(
    logits: Float[Tensor, "step vocab"], chosen: Sequence[int], first: int, tokenizer: Vocabulary
) -> list[DecodingStep]:
    """Log-probabilities, entropy and candidates of rows of logits; a token at −∞ cannot be written and is none.

    Each step wrote its token of `chosen`; `first` is the index of the first.
    """
    steps: list[DecodingStep] = []
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        token_ids = chosen[start : start + ROWS_AT_ONCE]
        log_probs = logits[start : start + ROWS_AT_ONCE].float().log_softmax(-1)
        best = log_probs.topk(min(NUM_CANDIDATES, log_probs.size(-1)))
        own = log_probs.gather(-1, torch.tensor(token_ids, device=logits.device)[:, None])[:, 0]
        columns = (column.tolist() for column in (own, _entropies(log_probs), best.indices, best.values))
        for token_id, log_prob, entropy, ids, values in zip(token_ids, *columns, strict=True):
            named = zip(ids, tokenizer.tokens(ids), values, strict=True)
            candidates = tuple(Candidate(*fields) for fields in named if fields[2] > -inf)
            (token,) = tokenizer.tokens([token_id])
            steps.append(DecodingStep(first + len(steps), token_id, token, log_prob, entropy, candidates))
    return steps


def _entropies(log_probs: Float[Tensor, "*step vocab"]) -> Float[Tensor, "*step"]:
    """−Σ p log p in nats; 0 · log 0 counts as 0, also where a log-probability is −∞."""
    least = torch.finfo(log_probs.dtype).min
    return -(log_probs.exp() * log_probs.clamp_min(least)).sum(-1).clamp_max(0.0)
