"""Describe what a decoding step could draw under a temperature, top k and top p; nothing is drawn."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model.decoding.sampling import Sampling, filtered_log_probs
from model.trace.steps import NUM_CANDIDATES, entropies
from model.vocabulary import Vocabulary


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
        entropy=float(entropies(filtered)),
    )
