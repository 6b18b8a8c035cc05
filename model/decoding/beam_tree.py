"""Build the tree of a beam search: every hypothesis that was compared, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from model.decoding.beam import PAPER, BeamRule, Hypothesis, SentenceBeam
from model.trace.steps import Vocabulary

LARGEST_WIDTH = 12

Fate = Literal["continued", "finished", "length limit", "outranked", "outscored", "search over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamNode:
    """A hypothesis: a token after those of its ancestors.

    Attributes:
        index: in `BeamTree.nodes`.
        parent: the node before it; None for the root, which is <s>.
        token_id, token: its last token.
        step: the step that compared it, from 0 (the target row that emitted the token); −1 for the root.
        rank: among the candidates of its step, from 0.
        log_prob: of the token given its ancestors, in nats: the difference of two sums, so exact to their rounding.
        total: of the whole hypothesis, in nats.
        row: which row of the batch read its token in step `step + 1`, that is its true beam index; None if none did.
        fate: what became of it:
            "continued": at least one continuation was kept or finished;
            "finished": it ended with </s>, and is one of the hypotheses that the search returned;
            "length limit": it is as long as a translation may be, was finished there, and was returned;
            "outranked": it was not among the best of its step (`fate_step` is `step`), or it was, but none of its
                continuations (`fate_step` is `step + 1`);
            "outscored": it was finished, with or without </s>, but so were `width` others with better scores;
            "search over": it lived when the search stopped, because it could not reach the finished ones any more.
        fate_step: the step that decided so.
        score: total / length penalty if it was finished, else None.
    """

    index: int
    parent: int | None
    token_id: int
    token: str
    step: int
    rank: int
    log_prob: float
    total: float
    row: int | None
    fate: Fate
    fate_step: int
    score: float | None


@dataclass(frozen=True, kw_only=True)
class BeamTree:
    """Everything that one beam search compared.

    Attributes:
        width, alpha, rule, limit: of the `SentenceBeam`.
        nodes: the root, then step by step the 2 · `width` best continuations, best first.
        hypotheses: the nodes of the hypotheses that the search returned, best score first.
    """

    width: int
    alpha: float
    limit: int
    nodes: tuple[BeamNode, ...]
    hypotheses: tuple[int, ...]
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
