"""Choosing the next token for many sentences at once: greedily, or by beam search. Knows nothing of text or files.

The interactive counterpart, one sentence and one step at a time, is `model.decoding.session`.
"""

from collections.abc import Collection, Sequence
from math import inf, isfinite

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.decoding.beam import PAPER, BeamRule, Candidate, Hypothesis, SentenceBeam
from model.decoding.prefix_batch import PrefixBatch, Prefixes, length_limits
from model.nn.transformer import Transformer


@torch.inference_mode()
def greedy_search(
    model: Transformer, source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
) -> list[list[int]]:
    """The most probable token at every step, for each sentence of the batch; ids without <s> and </s>.

    A sentence ends at </s>, or at `EXTRA_LENGTH` tokens more than its source has (its </s> not counted).
    """
    eos_id = model.config.eos_id
    limits = length_limits(source_ids, source_padding)
    batch = PrefixBatch(model, source_ids, source_padding)
    last = torch.full_like(source_ids[:, 0], model.config.bos_id)
    results: list[list[int]] = [[] for _ in source_ids]
    for length in range(1, int(limits.max()) + 1):
        last = batch.logits(last).argmax(-1)
        for sentence, token_id in zip(batch.sentences.tolist(), last.tolist(), strict=True):
            if token_id != eos_id:
                results[sentence].append(token_id)
        going = ((last != eos_id) & (length < limits[batch.sentences])).nonzero()[:, 0]
        if len(going) == 0:
            break
        if len(going) < len(last):
            last = last[going]
            batch.select(going)
    return results


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source_ids: Int[Tensor, "batch source"],
    source_padding: Bool[Tensor, "batch source"] | None,
    *,
    beam: int,
    alpha: float = 0.6,
) -> list[list[Hypothesis]]:
    """The finished hypotheses of `search_beams` for each sentence of the batch, best first."""
    return [search.finished for search in search_beams(model, source_ids, source_padding, beam=beam, alpha=alpha)]


@torch.inference_mode()
def search_beams(
    model: Transformer,
    source_ids: Int[Tensor, "batch source"],
    source_padding: Bool[Tensor, "batch source"] | None,
    *,
    beam: int,
    alpha: float,
    rule: BeamRule = PAPER,
) -> list[SentenceBeam]:
    """Beam search for each sentence of the batch, to its end.

    Args:
        model: the Transformer.
        source_ids: sources, each ending with </s>.
        source_padding: True at real tokens, None if all are.
        beam: width.
        alpha: exponent of the length penalty.
        rule: how finished hypotheses are compared, and when a search is over.

    At each step the `beam` best continuations of the living hypotheses are kept, finished ones are set aside; a
    sentence leaves when no living one can still beat the worst of `beam` finished ones (or as the rule says), or at
    its length limit.
    """
    limits = length_limits(source_ids, source_padding).tolist()
    searches = [SentenceBeam(limit, beam, alpha, rule=rule) for limit in limits]
    batch = PrefixBatch(model, source_ids, source_padding)
    return run_searches(searches, batch, torch.full_like(source_ids[:, 0], model.config.bos_id), (model.config.eos_id,))


@torch.inference_mode()
def run_searches(
    begun: Sequence[SentenceBeam], batch: Prefixes, last: Int[Tensor, "sentence"], eos_ids: Collection[int]
) -> list[SentenceBeam]:
    """Searches over any model's texts, all of one width, from their beginning to their end.

    Args:
        begun: the searches, none of which has taken a step.
        batch: one row for each, which `last` follows.
        last: the token to read first.
        eos_ids: each of them ends a hypothesis.
    """
    searches = list(begun)
    # As many candidates that, were every end among them, enough would live on.
    count = max(2, 1 + len(eos_ids)) * searches[0].width
    alive = list(range(len(searches)))
    log_probs = torch.zeros(len(alive), device=last.device)
    while alive:
        totals = batch.log_probs(last) + log_probs[:, None]
        for i, candidates in zip(alive, best_candidates(totals, len(alive), count), strict=True):
            searches[i] = searches[i].extended(candidates, eos_ids)
        width = len(last) // len(alive)
        first_rows = {i: place * width for place, i in enumerate(alive)}
        alive = [i for i in alive if searches[i].living]
        # Every living sentence has as many rows as any other: one at first, `beam` once there are so many. Where rules
        # leave one fewer hypotheses, the rows that are over repeat its first one at −∞, of which nothing is chosen.
        rows = max((len(searches[i].living) for i in alive), default=0)
        going = []
        for i in alive:
            living = searches[i].living
            spare = [living[0]._replace(log_prob=-inf)] * (rows - len(living))
            going += [(first_rows[i] + one.parent, one) for one in (*living, *spare)]
        batch.select(last.new_tensor([row for row, _ in going]))
        last = last.new_tensor([one.token_ids[-1] for _, one in going])
        log_probs = log_probs.new_tensor([one.log_prob for _, one in going])
    return searches


def best_candidates(totals: Float[Tensor, "row vocab"], sentences: int, count: int) -> list[list[Candidate]]:
    """The `count` most probable continuations of each sentence, best first; its rows lie together in `totals`.

    What is forbidden (−∞) continues nothing. Where all is, the first token stands in for it, as `argmax` would choose.
    """
    vocab_size = totals.size(1)
    of_sentence = totals.view(sentences, -1)
    best = of_sentence.topk(min(count, of_sentence.size(1)))
    return [
        [
            Candidate(value, *divmod(index, vocab_size))
            for value, index in zip(values, indices, strict=True)
            if isfinite(value)
        ]
        or [Candidate(-inf, 0, 0)]
        for values, indices in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
