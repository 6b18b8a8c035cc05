"""Decide the steps of beam search over one sentence, from candidates and their log-probabilities."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

Penalty = Literal["wu", "power"]
Stop = Literal["unbeatable", "unlikely", "full"]


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation.

    Attributes:
        token_ids: without <s> and </s>.
        log_prob: the sum of their log-probabilities, with that of </s>.
        end: the </s> that ended it (some models have several); None at the length limit.
    """

    token_ids: list[int]
    log_prob: float
    end: int | None = None


@dataclass(frozen=True)
class BeamRule:
    """How finished hypotheses are compared, and when a search is over.

    Attributes:
        penalty: what a log-probability is divided by. "wu": ((5 + n) / 6)^α (Wu et al. 2016, eq. 14; §6.1), where n is
            the number of tokens with </s>, counted for a hypothesis without it, too. "power": n^α, where n is the
            number of tokens that were written (transformers' `length_penalty`).
        stop: a search over as many finished hypotheses as it is wide ends "unbeatable": when no living one can still
            beat the worst of them, however long it grows (transformers' `early_stopping="never"`); "unlikely": when
            none beats it at its present length (`False`, the default there); "full": at once (`True`).
    """

    penalty: Penalty = "wu"
    stop: Stop = "unbeatable"

    def divisor(self, length: int, alpha: float) -> float:
        """The penalty of a hypothesis of so many tokens, </s> among them."""
        return length_penalty(length, alpha) if self.penalty == "wu" else float(length**alpha)


PAPER = BeamRule()


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
    """What a step of the search over one sentence decided.

    Attributes:
        candidates: the continuations that were compared, best first.
        kept: indices of those candidates that live on, best first.
        ended: indices of those that are finished.
        finished: the best finished hypotheses after this step, best first.
    """

    candidates: list[Candidate]
    kept: list[int]
    ended: list[int]
    finished: list[Hypothesis]


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α, by which a hypothesis' log-probability is divided (Wu et al. 2016, eq. 14; §6.1)."""
    return float(((5 + length) / 6) ** alpha)


@dataclass(frozen=True)
class SentenceBeam:
    """Beam search over one sentence, between two steps.

    Attributes:
        limit: longest translation.
        width: hypotheses of each kind.
        alpha: exponent of the length penalty.
        rule: how finished hypotheses are compared, and when the search is over.
        living: by log-probability, best first; empty when the search is over.
        finished: by log-probability / length penalty, best first.
        steps: the decisions so far.
    """

    limit: int
    width: int
    alpha: float
    living: list[Living] = field(default_factory=lambda: [Living([], 0.0, 0)])
    finished: list[Hypothesis] = field(default_factory=list)
    steps: tuple[BeamStep, ...] = ()
    rule: BeamRule = PAPER

    def extended(self, candidates: list[Candidate], eos_ids: Collection[int]) -> "SentenceBeam":
        """The search after a step with the 2 · width best candidates (best first).

        Rules of a model may leave fewer candidates, or only such as end; then nothing lives on.
        """
        kept = [i for i, candidate in enumerate(candidates) if candidate.token_id not in eos_ids][: self.width]
        ended = [i for i, candidate in enumerate(candidates[: self.width]) if candidate.token_id in eos_ids]
        living, finished = [], list(self.finished)
        for log_prob, parent, token_id in (candidates[i] for i in kept):
            living.append(Living([*self.living[parent].token_ids, token_id], log_prob, parent))
        for log_prob, parent, end in (candidates[i] for i in ended):
            finished.append(Hypothesis(self.living[parent].token_ids, log_prob, end))
        finished = self._best(finished)
        if living and len(living[0].token_ids) == self.limit:
            cut = [Hypothesis(*live[:2]) for live, i in zip(living, kept, strict=True) if self.may_be_cut(i)]
            finished = self._best([*finished, *cut])
            living = []
        elif living and len(finished) == self.width and self.score(finished[-1]) >= self._reachable(living[0]):
            living = []
        return replace(
            self, living=living, finished=finished, steps=(*self.steps, BeamStep(candidates, kept, ended, finished))
        )

    def may_be_cut(self, rank: int) -> bool:
        """Whether the candidate of this rank in the last step counts as finished at the length limit.

        Transformers lets only the best `width` candidates of a step finish, with </s> or without it.
        """
        return self.rule.penalty == "wu" or rank < self.width

    def score(self, hypothesis: Hypothesis) -> float:
        """Log-probability / length penalty, by which finished hypotheses compete."""
        counts_end = hypothesis.end is not None or self.rule.penalty == "wu"
        return hypothesis.log_prob / self.rule.divisor(len(hypothesis.token_ids) + counts_end, self.alpha)

    def _reachable(self, living: Living) -> float:
        """The best score that the rule assumes a living hypothesis can reach; its log-probability can only fall."""
        if self.rule.stop == "full":
            return -math.inf
        if self.rule.stop == "unlikely":
            return living.log_prob / self.rule.divisor(len(living.token_ids), self.alpha)
        longest = self.limit + (self.rule.penalty == "wu")
        return living.log_prob / self.rule.divisor(longest, self.alpha)

    def _best(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        return sorted(hypotheses, key=self.score, reverse=True)[: self.width]
