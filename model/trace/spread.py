"""Summarise each step's distribution over the vocabulary: the best log-probabilities exactly, the rest in bins.

Enough to redo temperature, top k and top p (`model.decoding.sampling.filtered_log_probs`) to three decimals without
the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

#: So many of the best log-probabilities of a step are kept exactly.
NUM_BEST: Final = 256
#: A bin is at least this wide, and this share of its distance from the last of the best. A bin of width w, taken as its
#: centre, is wrong by w²/24T² of its mass at temperature T; far from the best it has mass only where T is large.
_NARROWEST, _GROWTH, _FARTHEST = 0.01, 0.03, 250.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The distributions of all steps. All tensors are on the CPU.

    Attributes:
        best: the highest log-probabilities (nats), descending; the whole vocabulary if it is no larger than that.
        counts: of the other tokens in each bin, best bin first; without those of probability 0.
        centres: mean log-probability of each bin's tokens, 0 where there are none.
        chosen_ranks: of the token that each step wrote, 1 for the best; equally probable tokens share the better rank.
    """

    best: Float[Tensor, "step best"]
    counts: Int[Tensor, "step bin"]
    centres: Float[Tensor, "step bin"]
    chosen_ranks: Int[Tensor, "step"]


@torch.inference_mode()
def spread_of(log_probs: Float[Tensor, "step vocab"], token_ids: Sequence[int]) -> Spread:
    """The distributions of steps whose log-probabilities (nats) are known, and the ranks of what they wrote."""
    best, counts, centres = best_and_bins(log_probs)
    chosen = log_probs.gather(1, torch.tensor(token_ids, device=log_probs.device)[:, None])
    ranks = (log_probs > chosen).sum(-1) + 1
    return Spread(best=best.cpu(), counts=counts.cpu(), centres=centres.cpu(), chosen_ranks=ranks.cpu())


def best_and_bins(
    log_probs: Float[Tensor, "step vocab"],
) -> tuple[Float[Tensor, "step best"], Int[Tensor, "step bin"], Float[Tensor, "step bin"]]:
    """The best log-probabilities of each row, and counts and centres of the bins of all others."""
    descending = log_probs.sort(-1, descending=True).values
    best, rest = descending[:, :NUM_BEST], descending[:, NUM_BEST:]
    edges = _bin_edges().to(log_probs.device)
    bins = torch.bucketize(best[:, -1:] - rest, edges, right=True) - 1
    # Tokens of probability 0 get a bin of their own, which is dropped.
    bins = torch.where(rest.isfinite(), bins, len(edges))
    counts = torch.zeros(len(rest), len(edges) + 1, dtype=torch.int64, device=rest.device)
    sums = torch.zeros(counts.shape, dtype=torch.float64, device=rest.device)
    counts.scatter_add_(1, bins, torch.ones_like(bins))
    sums.scatter_add_(1, bins, rest.double().nan_to_num(neginf=0.0))
    counts, sums = counts[:, :-1], sums[:, :-1]
    return best, counts, (sums / counts.clamp_min(1)).float()


def _bin_edges() -> Float[Tensor, "bin"]:
    """Where bins begin, as distances (nats) below the last of the best; the last bin has no end."""
    edges = [0.0]
    while edges[-1] < _FARTHEST:
        edges.append(edges[-1] + max(_NARROWEST, _GROWTH * edges[-1]))
    return torch.tensor(edges)
