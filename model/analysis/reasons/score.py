"""Why a head looks at one key and not at another: the difference of two scores, step by step back to words.

A softmax knows differences of scores only: score(key) − score(rival) is the log of the ratio of their weights. It is
q · (k_key − k_rival), scaled: a functional of the stream at the query, and one of the stream at both keys. With a twin,
a text that differs in a word, what is split is the change from the twin's to the text's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, Literal
from weakref import ReferenceType, WeakKeyDictionary, ref

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.reasons.held_run import Functional, HeldRun, Part
from model.errors import TraceError, said
from model.parts.parts import Parts
from model.parts.weights import Stack, Sublayer
from model.trace.trace import Trace

#: Steps back that are shown at most.
MAX_STEPS: Final = 4
#: How far the parts may be from the score, as a share of max(1, |score|).
TOLERANCE: Final = 1e-4
#: Σ |share| / |Σ share| above which shares are given no percentages.
CANCELLING: Final = 3.0
ONE_KEY: Final = said("This attention has one key only, so there is no other to compare it with.")
NOT_SEEN: Final = said("This query cannot see both keys, so there are not two scores to compare. Choose other keys.")
EDITED: Final = said(
    "Heads of this run were edited, so its scores are not the sums of their parts. Trace it without edits."
)
#: A trace's run, as long as somebody holds an answer that came of it.
_RUNS: Final[WeakKeyDictionary[Trace, ReferenceType[HeldRun]]] = WeakKeyDictionary()

Side = Literal["query", "keys"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Why this key and not the rival, in this head and row; all count from 0. Row: as in `Trace.weights`."""

    site: str
    layer: int
    head: int
    row: int
    key: int
    rival: int


@dataclass(frozen=True, eq=False)
class Term:
    """One signed functional of a run."""

    run: HeldRun
    asked: Functional
    sign: float  #: 1, or −1 for the twin


@dataclass(frozen=True, eq=False)
class Step:
    """A number that is split: the sum of signed functionals, of one text or of text and twin, and of constants.

    Every method's shares add up to `total`, of a part to the share of the part.
    """

    terms: tuple[Term, ...]
    constants: Mapping[Part, float]
    count: int = 0  #: steps gone back so far
    side: Side = "query"  #: whose score it began with

    @property
    def total(self) -> float:
        """What is split."""
        return sum(self.of_texts) + sum(self.constants.values())

    @cached_property
    def of_texts(self) -> tuple[float, ...]:
        """What text and twin give to it, signed, without constants."""
        return tuple(term.sign * term.run.value(term.asked) for term in self.terms)

    @cached_property
    def mirrored(self) -> "Step":
        """The same between the twin and the text: what the twin has more."""
        terms = (replace(term, sign=-term.sign) for term in reversed(self.terms))
        return Step(tuple(terms), {part: -share for part, share in self.constants.items()}, self.count, self.side)

    @cached_property
    def _found(self) -> dict[tuple[Part | None, bool], dict[Part, float]]:
        """Shares of all parts (None) or of an attention's heads, which every test of this step asks for again."""
        return {}

    def shares(self, *, through_networks: bool = False) -> dict[Part, float]:
        """Part → share, largest first; `through_networks`: those of feed-forward networks go to what they read."""
        if (None, through_networks) not in self._found:
            shares = dict(self.constants)
            for term in self.terms:
                for part, share in term.run.split(term.asked, through_networks=through_networks).items():
                    shares[part] = shares.get(part, 0.0) + term.sign * share
            self._found[None, through_networks] = dict(sorted(shares.items(), key=lambda item: -abs(item[1])))
        return dict(self._found[None, through_networks])

    def heads(self, part: Part, *, through_networks: bool = False) -> dict[Part, float]:
        """The heads of an attention and their shares, largest first."""
        if (part, through_networks) not in self._found:
            shares: dict[Part, float] = {}
            for term in self.terms:
                for head, share in term.run.heads(term.asked, part, through_networks=through_networks).items():
                    shares[head] = shares.get(head, 0.0) + term.sign * share
            self._found[part, through_networks] = dict(sorted(shares.items(), key=lambda item: -abs(item[1])))
        return dict(self._found[part, through_networks])

    def single_parts(self) -> dict[Part, float]:
        """As `shares`, with the heads of each attention in its place; in no order."""
        shares: dict[Part, float] = {}
        for part, share in self.shares().items():
            shares |= self.heads(part) if part.kind in ("self", "cross") else {part: share}
        return shares

    def words(self) -> tuple[dict[int, float], ...]:
        """Of text and twin each, signed: position of the stack that is read → share. With constants that is all."""
        return tuple(
            {row: term.sign * share for row, share in term.run.by_row(term.asked).items()} for term in self.terms
        )

    def follow(self, part: Part, *, through_networks: bool = False) -> "Step":
        """One step back, to what a part read. Raises a TraceError after `MAX_STEPS`, or for what read nothing."""
        if self.count >= MAX_STEPS:
            raise TraceError("A trail goes back at most {steps} steps.", steps=MAX_STEPS)
        followed = [term.run.follow(term.asked, part, through_networks=through_networks) for term in self.terms]
        constants: dict[Part, float] = {}
        for term, each in zip(self.terms, followed, strict=True):
            for name, share in each.constants.items():
                constants[name] = constants.get(name, 0.0) + term.sign * share
        terms = (replace(term, asked=each.functional) for term, each in zip(self.terms, followed, strict=True))
        return Step(tuple(terms), constants, self.count + 1, self.side)

    def at(self, position: int | range, twin_position: int | None = None) -> "Step":
        """What stands at one position alone, or at some; between two sentences, at both, and how it is read as a
        constant.

        With f and g what text and twin ask there, f · x − g · y is (f + g)/2 · (x − y), what stands there, and
        (f − g) · (x + y)/2, how it is read. A text that has no such position, or reads nothing there, is left out.
        """
        here = position if isinstance(position, range) else (position,)
        places = (here, here if twin_position is None else (twin_position,))
        asked = [(term, term.asked.at(*place)) for term, place in zip(self.terms, places, strict=False)]
        terms = [replace(term, asked=term.run.of_stream(of_place)) for term, of_place in asked if of_place.rows]
        if len(terms) < 2:
            return Step(tuple(terms), {}, self.count, self.side)
        mean = (terms[0].asked.vectors + terms[1].asked.vectors) / 2
        before = sum(term.sign * term.run.value(term.asked) for term in terms)
        read = tuple(replace(term, asked=replace(term.asked, vectors=mean, values=None)) for term in terms)
        stands = sum(term.sign * term.run.value(term.asked) for term in read)
        return Step(read, {Part("reading"): before - stands}, self.count, self.side)


@dataclass(frozen=True, eq=False)
class Reason:
    """The answer to a question: a number, and the two sides it is split over.

    Alone, both sides list the parts of the same number. With a twin their totals add up to the change, each weighed
    with the mean of the other side.
    """

    question: Question
    twin: Question | None  #: the same cells in the twin
    here: float  #: log of the ratio of the two weights in the text; with a soft cap, of their scores before it
    there: float | None  #: in the twin
    query: Step
    keys: Step
    distance: float  #: what a bias of the distance between query and keys gives, of `total`
    cap_factor: float  #: a soft cap's: the difference of the capped scores, as a share of that of those before it
    error: float  #: the largest difference of any side's parts from the score, as a share of max(1, |score|)

    @property
    def total(self) -> float:
        """What is explained: `here`, or its change from the twin's."""
        return self.here if self.there is None else self.here - self.there

    @cached_property
    def mirrored(self) -> "Reason":
        """The answer to the same question about the twin, whose twin is the text. Raises a TraceError without one."""
        if self.twin is None or self.there is None:
            raise TraceError("This question has no twin, so its answer cannot be tested in a twin.")
        query, keys = self.query.mirrored, self.keys.mirrored
        turned = replace(self, question=self.twin, twin=self.question, here=self.there, there=self.here)
        return replace(turned, query=query, keys=keys, distance=-self.distance)

    @property
    def is_exact(self) -> bool:
        """Whether parts add up to the score, to `TOLERANCE`."""
        return self.error <= TOLERANCE


def cancelling(shares: Sequence[float]) -> float:
    """Σ |share| / |Σ share|: above `CANCELLING`, percentages of the sum say nothing; of nothing, 1."""
    total, absolute = abs(sum(shares)), sum(map(abs, shares))
    if not absolute:
        return 1.0
    return absolute / total if total else float("inf")


def align(here: Trace, there: Trace) -> dict[Stack, tuple[int, ...]]:
    """Stack → for each position of a text, that of the twin with which it stands, −1 where it has none.

    What differs between equal runs of tokens is aligned where it is equally long. The target of an encoder–decoder is
    aligned from the first token on, as long as both are the same.
    """
    source, target = _aligned(here.source_ids, there.source_ids), _aligned(here.target_ids, there.target_ids)
    if "decoder.cross" in here.sites:
        same = _same_so_far(here, there)
        target = tuple(row if row < same else -1 for row in range(len(target)))
    return {"encoder": source, "decoder": target}


def unlike(here: Trace, there: Trace) -> dict[Stack, tuple[int, ...]]:
    """Stack → the positions of a text that read another token than the twin's, or have no partner there."""
    ids: dict[Stack, tuple[Sequence[int], Sequence[int]]] = {
        "encoder": (here.source_ids, there.source_ids),
        "decoder": (here.target_ids, there.target_ids),
    }
    return {
        stack: tuple(at for at, to in enumerate(partners) if to < 0 or ids[stack][0][at] != ids[stack][1][to])
        for stack, partners in align(here, there).items()
    }


def _aligned(ours: Sequence[int], theirs: Sequence[int]) -> tuple[int, ...]:
    partners = [-1] * len(ours)
    for _, start, end, other, other_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if end - start == other_end - other:
            partners[start:end] = range(other, other_end)
    return tuple(partners)


def _same_so_far(here: Trace, there: Trace) -> int:
    """Target tokens until the first that differs."""
    both = zip(here.target_ids, there.target_ids, strict=False)
    shorter = min(len(here.target_ids), len(there.target_ids))
    return next((number for number, (one, other) in enumerate(both) if one != other), shorter)


def stacks_of(site: str) -> tuple[Stack, Stack]:
    """The stacks that the queries and the keys of a site come from."""
    return "encoder" if site == "encoder.self" else "decoder", "decoder" if site == "decoder.self" else "encoder"


def spans_of(trace: Trace, stack: Stack) -> tuple[range, ...]:
    """The positions of a stack by those that are shown together: frames of a sound by spans of time."""
    return (
        trace.source.spans() if stack == "encoder" else tuple(range(at, at + 1) for at in range(len(trace.target_ids)))
    )


def default_rival(question: Question, trace: Trace, twin: Trace | None = None) -> int:
    """The key that the twin looks at most; without one, or where that is the key itself, the runner-up of the row, of
    another moment of a sound.
    """
    site, layer, head, row, key = (question.site, question.layer, question.head, question.row, question.key)
    if twin is not None:
        (queries_stack, keys_stack), partners = stacks_of(site), align(trace, twin)
        there = partners[queries_stack][row]
        if there >= 0:
            most = int(twin.weights(site, layer, [head], [there]).argmax())
            if most in partners[keys_stack] and (rival := partners[keys_stack].index(most)) != key:
                return rival
    weights = trace.weights(site, layer, [head], [row])[0, 0].clone()
    # Frames next to each other are one moment.
    beside = len(spans_of(trace, stacks_of(site)[1])[0]) - 1
    weights[max(0, key - beside) : key + beside + 1] = -1
    weights[key] = -2
    return int(weights.argmax())


def explain(parts: Parts, trace: Trace, question: Question, twin: Trace | None = None) -> Reason:
    """Split the difference of two scores of a row, or its change from a twin.

    Args:
        parts: of the model that made the traces (`reader.parts`).
        trace: of the text, without edits.
        question: which head, row, key and rival.
        twin: of a text that differs in a word, over the same target so far; positions are aligned by tokens.

    While an answer is held, another question of the same trace asks nothing twice of the model.

    Raises a TraceError if the query may not see both keys, a position has no partner in the twin, the twin has another
    target, heads were edited, scores are no dot products, the model has no residual stream or does not tell its parts,
    or these do not add up to the score.
    """
    if twin is None:
        return _checked(_alone(_held_run(parts, trace), question))
    if "decoder.cross" in trace.sites and question.site != "encoder.self":
        end = question.row + 1
        if trace.target_ids[:end] != twin.target_ids[:end]:
            expected, actual = (" ".join(each.target_tokens[:end]) for each in (trace, twin))
            message = (
                "The twin must have read the same target so far: expected “{expected}”, got “{actual}”. Trace its text "
                "over the target of the other trace, as trace_tokens(text, trace.target_ids[1:]) does."
            )
            raise TraceError(message, expected=expected, actual=actual)
    partners, here, there = align(trace, twin), _held_run(parts, trace), _held_run(parts, twin)
    both = here.with_partner(there, partners), there.with_partner(here, align(twin, trace))
    return _checked(_between(*both, question, _in_twin(question, partners)))


def _held_run(parts: Parts, trace: Trace) -> HeldRun:
    known = _RUNS.get(trace)
    run = None if known is None else known()
    if run is None:
        run = HeldRun(parts, trace)
        _RUNS[trace] = ref(run)
    return run


def _checked(reason: Reason) -> Reason:
    if not reason.is_exact:
        message = (
            "The parts of this score do not add up to it: they are off by {error:.2g} of the score, but at most "
            "{limit:g} was expected. Open the model in float32, or ask about another head."
        )
        raise TraceError(message, error=reason.error, limit=TOLERANCE)
    return reason


def _in_twin(question: Question, partners: Mapping[Stack, tuple[int, ...]]) -> Question:
    query, keys = stacks_of(question.site)
    moved = replace(
        question,
        row=partners[query][question.row],
        key=partners[keys][question.key],
        rival=partners[keys][question.rival],
    )
    if min(moved.row, moved.key, moved.rival) < 0:
        raise TraceError("The twin has no token that matches this query or these keys. Choose others.")
    return moved


@dataclass(frozen=True, eq=False)
class Cell:
    """Query and difference of keys of a question in one run."""

    run: HeldRun
    question: Question
    query: Float[Tensor, "d_k"]
    rivals: tuple[int, ...]  #: the question's, or several: then their mean is meant
    keys: Float[Tensor, "d_k"]  #: k_key − k_rival
    scale: float
    distance: float
    total: float  #: of scores, as the model's weights have them, with the cap

    @property
    def before_cap(self) -> float:
        """The difference of the scores as products alone."""
        return self.scale * float(self.query @ self.keys)

    def query_asked(self, keys: Float[Tensor, "asked d_k"], scale: float) -> tuple[Functional, float]:
        """What scale · q · keys asks of the stream at the query, for each of some keys, and what biases give to all."""
        q, run = self.question, self.run
        weights, rows = run.weights(q.site, q.layer).query, [q.row] * len(keys)
        back, bias = run.turns(q.site, q.layer, "query", rows).back(scale * keys, q.head)
        bias += 0.0 if weights.bias is None else float((back @ weights.bias[q.head]).sum())
        asked, of_norm = run.reads(Sublayer.of_site(q.site, q.layer), rows, back @ weights.weight[q.head].T)
        return asked, bias + of_norm

    def keys_asked(self, query: Float[Tensor, "asked d_k"], scale: float) -> tuple[Functional, float]:
        """What scale · query · (k_key − k_rival) asks of the stream at these keys, for each of some queries."""
        q, run = self.question, self.run
        weights, rows = run.weights(q.site, q.layer).key, [q.key, *self.rivals] * len(query)
        head = q.head // (run.attention(q.site, q.layer).num_heads // len(weights.weight))
        signs = torch.tensor([1.0, *[-1 / len(self.rivals)] * len(self.rivals)])
        c = (scale * query[:, None] * signs[:, None]).flatten(0, 1)
        back, bias = run.turns(q.site, q.layer, "key", rows).back(c, head)
        bias += 0.0 if weights.bias is None else float((back @ weights.bias[head]).sum())
        asked, of_norm = run.keys_read(q.site, q.layer, back @ weights.weight[head].T, rows)
        return asked, bias + of_norm


def cell_of(run: HeldRun, q: Question, rivals: Sequence[int] = ()) -> Cell:
    """The cell of a question in a run, by default with the question's rival.

    Raises a TraceError if there are not two scores that are sums of parts.
    """
    if run.trace.edits:
        raise TraceError(EDITED)
    inputs, others = run.attention(q.site, q.layer), list(rivals or [q.rival])
    scores = run.trace.scores(q.site, q.layer, [q.head], [q.row])[0, 0]
    if len(scores) < 2:
        raise TraceError(ONE_KEY)
    for rival in others:
        if not 0 <= q.key < len(scores) or not 0 <= rival < len(scores) or q.key == rival:
            message = "Key and rival must be two different keys from 0 to {last}, got {key} and {rival}."
            raise TraceError(message, last=len(scores) - 1, key=q.key, rival=rival)
    if not bool(scores[[q.key, *others]].isfinite().all()):
        raise TraceError(NOT_SEEN)
    of_query, of_keys = stacks_of(q.site)
    run.compute(of_query, [q.row, *([q.key, *others] if of_keys == of_query else [])])
    bias = inputs.bias_rows([q.head], [q.row])
    distance = 0.0 if bias is None else float(bias[0, 0, q.key] - bias[0, 0, others].mean())
    key = inputs.key
    keys = key[q.head // (inputs.num_heads // len(key))].float()
    query, total = inputs.query[q.head, q.row].float(), float(scores[q.key] - scores[others].mean())
    return Cell(run, q, query, tuple(others), keys[q.key] - keys[others].mean(0), inputs.scale, distance, total)


def _alone(run: HeldRun, question: Question) -> Reason:
    cell = cell_of(run, question)
    factor = _cap_factor(cell)
    sides = [
        cell.query_asked(cell.keys[None], cell.scale * factor),
        cell.keys_asked(cell.query[None], cell.scale * factor),
    ]
    distance = {Part("distance"): cell.distance} if cell.distance else {}
    query, keys = (Step((Term(run, asked, 1.0),), {Part("bias"): bias, **distance}) for asked, bias in sides)
    error = max(abs(sum(side.shares().values()) - cell.total) for side in (query, keys)) / max(1.0, abs(cell.total))
    of_keys = replace(keys, side="keys")
    return Reason(question, None, cell.total, None, query, of_keys, cell.distance, factor, error)


def _between(here: HeldRun, there: HeldRun, question: Question, moved: Question) -> Reason:
    a, b = cell_of(here, question), cell_of(there, moved)
    factor = 1.0
    if here.attention(question.site, question.layer).softcap is not None:
        change = a.before_cap - b.before_cap
        capped = a.total - a.distance - (b.total - b.distance)
        factor = capped / change if change else 1.0
    scale, mean_keys, mean_query = a.scale * factor, (a.keys + b.keys) / 2, (a.query + b.query) / 2
    sides = []
    for side in (
        [cell.query_asked(mean_keys[None], scale) for cell in (a, b)],
        [cell.keys_asked(mean_query[None], scale) for cell in (a, b)],
    ):
        (of_a, bias_a), (of_b, bias_b) = side
        sides.append(Step((Term(here, of_a, 1.0), Term(there, of_b, -1.0)), {Part("bias"): bias_a - bias_b}))
    query, keys = sides[0], replace(sides[1], side="keys")
    distance, change = a.distance - b.distance, a.total - b.total
    sums = sum(sum(side.shares().values()) for side in sides)
    error = abs(sums + distance - change) / max(1.0, abs(a.total), abs(b.total))
    return Reason(question, moved, a.total, b.total, query, keys, distance, factor, error)


def _cap_factor(cell: Cell) -> float:
    if cell.run.attention(cell.question.site, cell.question.layer).softcap is None or not cell.before_cap:
        return 1.0
    return (cell.total - cell.distance) / cell.before_cap
