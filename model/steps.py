"""What one decoding step chose, and from what. Knows nothing of how the logits came about."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.tokenizer import Tokenizer

NUM_CANDIDATES = 20


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


def describe_step(logits: Float[Tensor, " vocab"], chosen: int, index: int, tokenizer: Tokenizer) -> DecodingStep:
    """Log-probabilities, entropy and candidates of one row of logits."""
    log_probs = logits.float().log_softmax(-1)
    best = log_probs.topk(min(NUM_CANDIDATES, log_probs.numel()))
    ids = best.indices.tolist()
    candidates = tuple(map(Candidate, ids, tokenizer.tokens(ids), best.values.tolist()))
    # 0 · log 0 counts as 0, also where a logit is −∞.
    entropy = -torch.special.xlogy(log_probs.exp(), log_probs.exp()).sum()
    (token,) = tokenizer.tokens([chosen])
    return DecodingStep(index, chosen, token, float(log_probs[chosen]), max(0.0, float(entropy)), candidates)
