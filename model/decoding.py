"""Choosing the next token for many sentences at once: greedily, or by beam search. Knows nothing of text or files.

The interactive counterpart, one sentence and one step at a time, is `model.session`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.transformer import Transformer

EXTRA_LENGTH = 50
"""A translation may be this many tokens longer than its source (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: ids without <s> and </s>, and the sum of their log-probabilities (with that of </s>)."""

    token_ids: list[int]
    log_prob: float


class Candidate(NamedTuple):
    """A living hypothesis (counted within its sentence) and a token after it, with the log-probability of the whole."""

    log_prob: float
    parent: int
    token_id: int


class Living(NamedTuple):
    """A hypothesis that may still grow, and which of its sentence's living ones it grew from in the last step."""

    token_ids: list[int]
    log_prob: float
    parent: int


class BeamStep(NamedTuple):
    """What one step of the search over one sentence decided.

    Attributes:
        candidates: the continuations that were compared, best first.
        kept: places among these of the hypotheses that live on, best first.
        ended: places among these of the hypotheses that are finished.
        finished: the best finished hypotheses after this step, best first.
    """

    candidates: list[Candidate]
    kept: list[int]
    ended: list[int]
    finished: list[Hypothesis]


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α, by which a hypothesis' log-probability is divided (Wu et al. 2016, eq. 14; §6.1)."""
    return float(((5 + length) / 6) ** alpha)


def length_limits(
    source_ids: Int[Tensor, "batch source"], source_padding: Bool[Tensor, "batch source"] | None
) -> Int[Tensor, "batch"]:
    """`EXTRA_LENGTH` tokens more than each source has, its </s> not counted."""
    if source_padding is None:
        source_padding = torch.ones_like(source_ids, dtype=torch.bool)
    return source_padding.sum(1) - 1 + EXTRA_LENGTH


@dataclass(frozen=True)
class SentenceBeam:
    """Beam search over one sentence, between two steps.

    Attributes:
        limit: longest translation.
        width: hypotheses of each kind.
        alpha: exponent of the length penalty.
        living: by log-probability, best first; empty when the search is over.
        finished: by log-probability / length penalty, best first.
        steps: how it came here.
    """

    limit: int
    width: int
    alpha: float
    living: list[Living] = field(default_factory=lambda: [Living([], 0.0, 0)])
    finished: list[Hypothesis] = field(default_factory=list)
    steps: tuple[BeamStep, ...] = ()

    def extended(self, candidates: list[Candidate], eos_id: int) -> "SentenceBeam":
        """One step on, by the 2 · width best candidates (best first), of which at most `width` end a hypothesis."""
        kept = [place for place, one in enumerate(candidates) if one.token_id != eos_id][: self.width]
        ended = [place for place, one in enumerate(candidates[: self.width]) if one.token_id == eos_id]
        living, finished = [], list(self.finished)
        for log_prob, parent, token_id in (candidates[place] for place in kept):
            living.append(Living([*self.living[parent].token_ids, token_id], log_prob, parent))
        for log_prob, parent, _ in (candidates[place] for place in ended):
            finished.append(Hypothesis(self.living[parent].token_ids, log_prob))
        finished = self._best(finished)
        # Log-probabilities only fall, so this is the best that a living hypothesis can still reach.
        reachable = living[0].log_prob / length_penalty(self.limit + 1, self.alpha)
        if len(living[0].token_ids) == self.limit:
            finished = self._best([*finished, *(Hypothesis(one.token_ids, one.log_prob) for one in living)])
            living = []
        elif len(finished) == self.width and self.score(finished[-1]) >= reachable:
            living = []
        steps = (*self.steps, BeamStep(candidates, kept, ended, finished))
        return SentenceBeam(self.limit, self.width, self.alpha, living, finished, steps)

    def score(self, hypothesis: Hypothesis) -> float:
        """Log-probability / length penalty, by which finished hypotheses compete."""
        return hypothesis.log_prob / length_penalty(len(hypothesis.token_ids) + 1, self.alpha)

    def _best(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        return sorted(hypotheses, key=self.score, reverse=True)[: self.width]


class PrefixBatch:
    """Unfinished translations side by side, one a row: the memory it attends to and what is cached of its prefix.

    Attributes:
        sentences: which sentence of the source each row translates.
    """

    def __init__(
        self,
        model: Transformer,
        source_ids: Int[Tensor, "batch source"],
        source_padding: Bool[Tensor, "batch source"] | None,
    ) -> None:
        self.sentences: Tensor = torch.arange(source_ids.size(0), device=source_ids.device)
        self._model, self._padding = model, source_padding
        self._memory = model.encode(source_ids, source_padding)
        self._cache = model.new_cache()

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Read one more token of every row, and say what may follow it."""
        hidden = self._model.decode(last[:, None], self._memory, self._padding, cache=self._cache)
        return self._model.projection(hidden[:, -1])  # type: ignore[no-any-return]

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order; one may be named more than once."""
        sentences = self.sentences[rows]
        if torch.equal(sentences, self.sentences):
            self._cache.select_prefixes(rows)
            return
        self._cache.select(rows)
        self._memory = self._memory[rows]
        self._padding = None if self._padding is None else self._padding[rows]
        self.sentences = sentences


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
) -> list[SentenceBeam]:
    """Beam search for each sentence of the batch, to its end.

    Args:
        model: the Transformer.
        source_ids: sources, each ending with </s>.
        source_padding: True at real tokens, None if all are.
        beam: width.
        alpha: exponent of the length penalty.

    At each step the `beam` best continuations of the living hypotheses are kept, finished ones are set aside; a
    sentence leaves when no living one can still beat the worst of `beam` finished ones, or at its length limit.
    """
    searches = [SentenceBeam(limit, beam, alpha) for limit in length_limits(source_ids, source_padding).tolist()]
    batch = PrefixBatch(model, source_ids, source_padding)
    alive = list(range(len(searches)))
    last = torch.full_like(source_ids[:, 0], model.config.bos_id)
    log_probs = torch.zeros(len(alive), device=source_ids.device)
    while alive:
        totals = batch.logits(last).float().log_softmax(-1).add_(log_probs[:, None])
        for i, candidates in zip(alive, best_candidates(totals, len(alive), 2 * beam), strict=True):
            searches[i] = searches[i].extended(candidates, model.config.eos_id)
        # Every living sentence has as many rows as any other: one at first, `beam` once there are so many.
        width = len(last) // len(alive)
        going = [(place * width + one.parent, one) for place, i in enumerate(alive) for one in searches[i].living]
        alive = [i for i in alive if searches[i].living]
        batch.select(last.new_tensor([row for row, _ in going]))
        last = last.new_tensor([one.token_ids[-1] for _, one in going])
        log_probs = log_probs.new_tensor([one.log_prob for _, one in going])
    return searches


def best_candidates(totals: Float[Tensor, "row vocab"], sentences: int, count: int) -> list[list[Candidate]]:
    """The `count` most probable continuations of each sentence, best first; its rows lie together in `totals`."""
    vocab_size = totals.size(1)
    of_sentence = totals.view(sentences, -1)
    best = of_sentence.topk(min(count, of_sentence.size(1)))
    return [
        [Candidate(value, *divmod(index, vocab_size)) for value, index in zip(values, indices, strict=True)]
        for values, indices in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
