"""Choosing the next token: greedily for many sentences at once, or by beam search. Knows nothing of text or files.

The interactive counterpart, one sentence and one step at a time, is `model.session`.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from model.transformer import Transformer

EXTRA_LENGTH = 50
"""A translation may be this many tokens longer than its source (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: ids without <s> and </s>, and the sum of their log-probabilities (with that of </s>)."""

    token_ids: list[int]
    log_prob: float


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α, by which a hypothesis' log-probability is divided (Wu et al. 2016, eq. 14; §6.1)."""
    return float(((5 + length) / 6) ** alpha)


@torch.inference_mode()
def greedy_search(
    model: Transformer, source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
) -> list[list[int]]:
    """The most probable token at every step, for each sentence of the batch; ids without <s> and </s>.

    A sentence ends at </s>, or at `EXTRA_LENGTH` tokens more than its source has (its </s> not counted).
    """
    config, device = model.config, source_ids.device
    batch = source_ids.size(0)
    limits = (
        torch.full((batch,), source_ids.size(1), device=device) if source_padding is None else source_padding.sum(1)
    ) + (EXTRA_LENGTH - 1)
    memory = model.encode(source_ids, source_padding)
    cache = model.new_cache()
    alive = torch.arange(batch, device=device)
    last = torch.full((batch, 1), config.bos_id, device=device)
    results: list[list[int]] = [[] for _ in range(batch)]
    for length in range(1, int(limits.max()) + 1):
        hidden = model.decode(last, memory, source_padding, cache=cache)
        last = model.projection(hidden[:, -1]).argmax(-1, keepdim=True)
        for row, token_id in zip(alive.tolist(), last[:, 0].tolist(), strict=True):
            if token_id != config.eos_id:
                results[row].append(token_id)
        going = ((last[:, 0] != config.eos_id) & (length < limits[alive])).nonzero()[:, 0]
        if len(going) == 0:
            break
        if len(going) < len(alive):
            alive, last, memory = alive[going], last[going], memory[going]
            source_padding = None if source_padding is None else source_padding[going]
            cache.select(going)
    return results


@torch.inference_mode()
def beam_search(
    model: Transformer, source_ids: Int[Tensor, "1 source"], *, beam: int, alpha: float = 0.6
) -> list[Hypothesis]:
    """Beam search for one sentence; finished hypotheses, best first (by log-probability / length penalty).

    Args:
        model: the Transformer.
        source_ids: one source, ending with </s>.
        beam: width; 1 gives the greedy translation.
        alpha: exponent of the length penalty.

    At each step the `beam` best continuations of the living hypotheses are kept, finished ones are set aside; the
    search stops when no living one can still beat the worst of `beam` finished ones, or at the length limit.
    """
    config, device = model.config, source_ids.device
    limit = source_ids.size(1) - 1 + EXTRA_LENGTH
    memory = model.encode(source_ids)
    cache = model.new_cache()
    prefixes: list[list[int]] = [[]]
    log_probs = torch.zeros(1, device=device)
    last = torch.full((1, 1), config.bos_id, device=device)
    finished: list[Hypothesis] = []

    def score(hypothesis: Hypothesis) -> float:
        return hypothesis.log_prob / length_penalty(len(hypothesis.token_ids) + 1, alpha)

    for length in range(1, limit + 1):
        hidden = model.decode(last, memory.expand(len(prefixes), -1, -1), cache=cache)
        step = model.projection(hidden[:, -1]).float().log_softmax(-1)
        total = (log_probs[:, None] + step).flatten()
        best = total.topk(min(2 * beam, total.numel()))
        living: list[tuple[float, int, int]] = []
        for rank, (value, index) in enumerate(zip(best.values.tolist(), best.indices.tolist(), strict=True)):
            row, token_id = divmod(index, config.vocab_size)
            if token_id == config.eos_id:
                if rank < beam:
                    finished.append(Hypothesis(prefixes[row], value))
            elif len(living) < beam:
                living.append((value, row, token_id))
        finished = sorted(finished, key=score, reverse=True)[:beam]
        # Log-probabilities only fall, so this is the best that a living hypothesis can still reach.
        reachable = living[0][0] / length_penalty(limit + 1, alpha)
        if length == limit:
            finished += [Hypothesis([*prefixes[row], token_id], value) for value, row, token_id in living]
        if length == limit or (len(finished) == beam and score(finished[-1]) >= reachable):
            break
        prefixes = [[*prefixes[row], token_id] for _, row, token_id in living]
        log_probs = torch.tensor([value for value, _, _ in living], device=device)
        last = torch.tensor([[token_id] for _, _, token_id in living], device=device)
        cache.select(torch.tensor([row for _, row, _ in living], device=device))
    return sorted(finished, key=score, reverse=True)[:beam]
