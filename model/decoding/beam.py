"""Decide the steps of beam search over one sentence, and build the tree of everything that the search compared."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from model.trace.steps import Vocabulary

Penalty = Literal["wu", "power"]
Stop = Literal["unbeatable", "unlikely", "full"]


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation."""

    token_ids: list[int]  #: without <s> and </s>
    log_prob: float  #: the sum of their log-probabilities, with that of </s>
    end: int | None = None  #: the </s> that ended it (some models have several); None at the length limit


@dataclass(frozen=True)
class BeamRule:
    """How finished hypotheses are compared, and when a search is over."""

    #: what a log-probability is divided by. "wu": ((5 + n) / 6)^α (Wu et al. 2016, eq. 14; §6.1), where n is the number
    #: of tokens with </s>, counted for a hypothesis without it, too. "power": n^α, where n is the number of tokens that
    #: were written (transformers' `length_penalty`).
    penalty: Penalty = "wu"
    #: a search over as many finished hypotheses as it is wide ends "unbeatable": when no living one can still beat the
    #: worst of them, however long it grows (transformers' `early_stopping="never"`); "unlikely": when none beats it at
    #: its present length (`False`, the default there); "full": at once (`True`).
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
    """What a step of the search over one sentence decided."""

    candidates: list[Candidate]  #: the continuations that were compared, best first
    kept: list[int]  #: indices of those candidates that live on, best first
    ended: list[int]  #: indices of those that are finished
    finished: list[Hypothesis]  #: the best finished hypotheses after this step, best first


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α, by which a hypothesis' log-probability is divided (Wu et al. 2016, eq. 14; §6.1)."""
    return float(((5 + length) / 6) ** alpha)


@dataclass(frozen=True)
class SentenceBeam:
    """Beam search over one sentence, between two steps."""

    limit: int  #: longest translation
    width: int  #: hypotheses of each kind
    alpha: float  #: exponent of the length penalty
    #: by log-probability, best first; empty when the search is over.
    living: list[Living] = field(default_factory=lambda: [Living([], 0.0, 0)])
    finished: list[Hypothesis] = field(default_factory=list)  #: by log-probability / length penalty, best first
    steps: tuple[BeamStep, ...] = ()  #: the decisions so far
    rule: BeamRule = PAPER  #: how finished hypotheses are compared, and when the search is over

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


LARGEST_WIDTH = 12

Fate = Literal["continued", "finished", "length limit", "outranked", "outscored", "search over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamNode:
    """A hypothesis: a token after those of its ancestors."""

    index: int  #: in `BeamTree.nodes`
    parent: int | None  #: the node before it; None for the root, which is <s>
    #: token_id, token: its last token.
    token_id: int
    token: str
    step: int  #: the step that compared it, from 0 (the target row that emitted the token); −1 for the root
    rank: int  #: among the candidates of its step, from 0
    #: of the token given its ancestors, in nats: the difference of two sums, so exact to their rounding.
    log_prob: float
    total: float  #: of the whole hypothesis, in nats
    #: which row of the batch read its token in step `step + 1`, that is its true beam index; None if none did.
    row: int | None
    #: what became of it:
    #: "continued": at least one continuation was kept or finished;
    #: "finished": it ended with </s>, and is one of the hypotheses that the search returned;
    #: "length limit": it is as long as a translation may be, was finished there, and was returned;
    #: "outranked": it was not among the best of its step (`fate_step` is `step`), or it was, but none of its
    #:     continuations (`fate_step` is `step + 1`);
    #: "outscored": it was finished, with or without </s>, but so were `width` others with better scores;
    #: "search over": it lived when the search stopped, because it could not reach the finished ones any more.
    fate: Fate
    fate_step: int  #: the step that decided so
    score: float | None  #: total / length penalty if it was finished, else None


@dataclass(frozen=True, kw_only=True)
class BeamTree:
    """Everything that one beam search compared."""

    #: width, alpha, rule, limit: of the `SentenceBeam`.
    width: int
    alpha: float
    limit: int
    nodes: tuple[BeamNode, ...]  #: the root, then step by step the 2 · `width` best continuations, best first
    hypotheses: tuple[int, ...]  #: the nodes of the hypotheses that the search returned, best score first
    rule: BeamRule = PAPER

    @property
    def winner(self) -> BeamNode:
        """The end of the best hypothesis."""
        return self.nodes[self.hypotheses[0]]

    def path(self, node: int) -> tuple[BeamNode, ...]:
        """A node's ancestors from the first token on, and the node; empty for the root."""
        path: list[BeamNode] = []
        while (parent := self.nodes[node].parent) is not None:
            path.append(self.nodes[node])
            node = parent
        return tuple(reversed(path))

    def token_ids(self, node: int) -> tuple[int, ...]:
        """What a node's hypothesis wrote, as `Translator.trace_tokens` reads it."""
        return tuple(ancestor.token_id for ancestor in self.path(node))

    def rows(self, node: int) -> tuple[int, ...]:
        """For each token of the node's hypothesis, the row of the batch that it was computed in: its parent's row."""
        parents = (self.nodes[step.parent].row for step in self.path(node) if step.parent is not None)
        return tuple(row for row in parents if row is not None)


class Outcome(NamedTuple):
    """What became of a hypothesis, the step that decided so, and its score if it was finished."""

    fate: Fate
    step: int
    score: float | None = None


def grow_tree(search: SentenceBeam, bos_id: int, tokenizer: Vocabulary) -> BeamTree:
    """The tree of a finished search."""
    (bos,) = tokenizer.tokens([bos_id])
    nodes = [
        BeamNode(
            index=0, parent=None, token_id=bos_id, token=bos, step=-1, rank=0,
            log_prob=0.0, total=0.0, row=0, fate="continued", fate_step=0, score=None,
        )
    ]  # fmt: skip
    written: list[tuple[int, ...]] = [()]
    living = [0]
    for number, step in enumerate(search.steps):
        tokens = tokenizer.tokens([candidate.token_id for candidate in step.candidates])
        goes_on = number + 1 < len(search.steps)
        for rank, (candidate, token) in enumerate(zip(step.candidates, tokens, strict=True)):
            parent = living[candidate.parent]
            # A hypothesis that ends with </s> is known without it.
            own = written[parent] if rank in step.ended else (*written[parent], candidate.token_id)
            written.append(own)
            fate, fate_step, score = _outcome(search, number, rank, own)
            nodes.append(
                BeamNode(
                    index=len(nodes),
                    parent=parent,
                    token_id=candidate.token_id,
                    token=token,
                    step=number,
                    rank=rank,
                    log_prob=candidate.log_prob - nodes[parent].total,
                    total=candidate.log_prob,
                    row=step.kept.index(rank) if goes_on and rank in step.kept else None,
                    fate=fate,
                    fate_step=fate_step,
                    score=score,
                )
            )
        living = [len(nodes) - len(step.candidates) + i for i in step.kept]
    ends = {
        (written[node.index], node.token_id if len(written[node.index]) <= node.step else None): node.index
        for node in nodes
        if node.score is not None
    }
    return BeamTree(
        width=search.width,
        alpha=search.alpha,
        limit=search.limit,
        nodes=tuple(nodes),
        hypotheses=tuple(ends[tuple(finished.token_ids), finished.end] for finished in search.finished),
        rule=search.rule,
    )


def _outcome(search: SentenceBeam, number: int, rank: int, written: Sequence[int]) -> Outcome:
    """What became of a candidate of step `number` that wrote these tokens (</s> not among them)."""
    step = search.steps[number]
    total = step.candidates[rank].log_prob
    if rank in step.ended:
        end = step.candidates[rank].token_id
        return _finished(search, number, Hypothesis(list(written), total, end), "finished")
    if rank not in step.kept:
        return Outcome("outranked", number)
    if number + 1 < len(search.steps):
        row, following = step.kept.index(rank), search.steps[number + 1]
        survivors = {following.candidates[i].parent for i in (*following.kept, *following.ended)}
        return Outcome("continued" if row in survivors else "outranked", number + 1)
    if len(written) == search.limit:
        if not search.may_be_cut(rank):
            return Outcome("outranked", number)
        return _finished(search, number, Hypothesis(list(written), total), "length limit")
    return Outcome("search over", number)


def _finished(search: SentenceBeam, number: int, hypothesis: Hypothesis, fate: Fate) -> Outcome:
    score, wanted = search.score(hypothesis), (hypothesis.token_ids, hypothesis.end)
    for later, step in enumerate(search.steps[number:], start=number):
        if wanted not in [(other.token_ids, other.end) for other in step.finished]:
            return Outcome("outscored", later, score)
    return Outcome(fate, number, score)
