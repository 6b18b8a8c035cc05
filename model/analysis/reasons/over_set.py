"""Why heads look where they look, over a set of twins: which sub-layers and which words carry the change.

In each pair one head is asked why it looks at one word in the text and at another in the twin. Of pronoun cases it is
the attention from the pronoun (in a translation, from the row that writes it) to its antecedent, in the head that turns
farthest over the whole set; of a person's own pairs, each pair's most telling cell.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.coreference.case_files import PronounCase, PronounCases, phrase_spans
from model.analysis.coreference.pronoun_rows import pronoun_rows, read_case
from model.analysis.held_out import BEST_KNOWN
from model.analysis.metrics.estimates import Estimate, bootstrap_median
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.reasons.cell import telling_cell
from model.analysis.reasons.held_run import Part, PartKind
from model.analysis.reasons.mechanism import EXCHANGED, MEASURES, SIZES, Words, mechanism
from model.analysis.reasons.score import Question, Reason, align, explain, stacks_of, unlike
from model.analysis.reasons.twins import trace_twin
from model.errors import DataError, InputTextError, TraceError, said
from model.interruption import Progress, no_progress
from model.opening import as_chooser
from model.over_corpus import ByModels, Partial, Sum, over_corpus, packed, unpacked
from model.reader import Reader
from model.trace.trace import Trace

#: Twins of pronoun cases differ in at most so many tokens, and are equally long: the rest of the sentence is the same.
MOST_CHANGED: Final = 4
ROLES: Final = ("pronoun", "changed", "keys", "rest")
"""Words that a change is read from: the pronoun, the words that differ, those of key and rival, and all others."""
NOT_ALIGNED: Final = said("the twin has a different length, or differs in more than four tokens")
NO_CELL: Final = said("no cell to ask about")


@dataclass(frozen=True)
class TwinPair:
    """Two texts that differ in a word or a few."""

    name: str
    text: str
    twin: str
    case: PronounCase | None = None  #: the pronoun of the text and its candidates, if it is about one


@dataclass(frozen=True, eq=False)
class ReasonsOverSet:
    """What was explained in each pair, and over those in which the head turns and another word is written."""

    names: tuple[str, ...]  #: of the pairs that were explained
    skipped: Mapping[str, int]  #: reason → pairs
    head: HeadName | None  #: the head that was asked in every pair; None if each has its own
    #: here, there: log of the ratio of key's and rival's weights, in text and twin.
    here: Float[Tensor, "pair"]
    there: Float[Tensor, "pair"]
    head_follows: tuple[bool, ...]  #: whether the head prefers the key in the text and the rival in the twin
    #: whether another token is the most probable at the row in the twin; never in encoders.
    word_follows: tuple[bool, ...]
    query: Float[Tensor, "pair"]  #: the query's share of the change, 1 − that of the keys and of distance
    parts: tuple[Part, ...]  #: sub-layers whole, in the order of the model
    of_parts: Float[Tensor, "pair part"]  #: the query's parts, as shares of the change
    of_roles: Float[Tensor, "pair role"]  #: what attentions below, and the keys, read at `ROLES`, likewise
    weights: Float[Tensor, "pair 2"]  #: of the key in the text, of the rival in the twin
    #: carried, odds, exchanged, positions: as in `Mechanism`, whose first three numbers `carried` has. NaN where head
    #: and word do not both follow; the positions are those of the other pairs, one after the other.
    carried: Float[Tensor, "pair 3"]
    odds: Float[Tensor, "pair end_or_exchange"]
    exchanged: Float[Tensor, "pair exchange measure"]
    positions: Float[Tensor, "position 2"]

    @property
    def followed(self) -> list[int]:
        """The pairs that are counted: those in which head and word follow; of models that write nothing, the head."""
        words = self.word_follows if any(self.word_follows) else self.head_follows
        return [at for at, both in enumerate(zip(self.head_follows, words, strict=True)) if all(both)]

    def median(self, shares: Float[Tensor, "pair *share"]) -> Estimate:
        """Median and interval over the pairs that are counted."""
        return bootstrap_median(shares[self.followed])

    @property
    def below(self) -> Part:
        """The sub-layer that carries most of the query's change, by its median."""
        return self.parts[int(self.median(self.of_parts).value.abs().argmax())]

    def sentences(self) -> dict[str, Estimate]:
        """The mechanism in numbers, by name: medians over the pairs that are counted and have it, none if none has."""
        if not self.followed:
            return {}
        columns = {
            "key_weight": self.weights[:, 0],
            "rival_weight": self.weights[:, 1],
            "query": self.query,
            "below": self.of_parts[:, self.parts.index(self.below)],
            **dict(zip(("at_pronoun", "carried", "carried_on"), self.carried.unbind(1), strict=True)),
            **{
                f"{words}, {measure}": self.exchanged[:, row, column]
                for row, words in enumerate(EXCHANGED)
                for column, measure in enumerate(MEASURES)
            },
        }
        told = {name: column[self.followed] for name, column in columns.items()}
        told = {name: values[~values.isnan()] for name, values in told.items()}
        return {name: bootstrap_median(values) for name, values in told.items() if len(values)}

    @property
    def agreement(self) -> float:
        """Pearson's r of what was predicted of a position and what was measured, over all positions."""
        return float(self.positions.T.corrcoef()[0, 1]) if len(self.positions) > 1 else nan


def twin_pairs(cases: PronounCases) -> tuple[TwinPair, ...]:
    """The minimal pairs of pronoun cases, the first of each as the text; controls are none."""
    of_pair: dict[str, list[PronounCase]] = {}
    for case in cases.cases:
        if not case.is_control:
            of_pair.setdefault(case.pair_name, []).append(case)
    return tuple(
        TwinPair(name, both[0].sentence, both[1].sentence, both[0]) for name, both in of_pair.items() if len(both) == 2
    )


def best_known_pair() -> TwinPair:
    """The animal that was too tired, and the street that was too wide."""
    text, twin, *_ = BEST_KNOWN
    pronoun, antecedent, distractor = (phrase_spans(text, word)[0] for word in ("it", "animal", "street"))
    return TwinPair("best known", text, twin, PronounCase(text, pronoun, antecedent, distractor))


def reasons_over_set(
    reader: Reader, pairs: Sequence[TwinPair], progress: Progress = no_progress, *, head: HeadName | None = None
) -> ReasonsOverSet:
    """Explain the change of every pair. Raises a DataError if none can be, a TraceError if the model cannot be split.

    Args:
        progress: called with the number of pairs done since the last call; pairs with a case are done twice.
        head: asked in pairs with a case, by default the one that turns farthest over all of them.
    """
    if head is None and pairs and all(pair.case for pair in pairs):
        head = _turning_head(reader, pairs, progress)
    parts = tuple(_parts_of(reader))

    def finish(total: Partial) -> ReasonsOverSet:
        skipped = {str(reason): int(count) for reason, count in total.sums.items()}
        names = tuple(unpacked("name", total.rows))
        if not names:
            raise DataError(
                "No pair could be explained: {reasons}.", reasons=", ".join(skipped) or said("there is none")
            )
        numbers = torch.from_numpy(total.rows["numbers"])
        sizes = [5, 2, len(parts), len(ROLES), *SIZES]
        first, weights, of_parts, of_roles, carried, odds, exchanged = torch.split(numbers, sizes, 1)
        here, there, query, head_follows, word_follows = first.unbind(1)
        return ReasonsOverSet(
            names=names,
            skipped=skipped,
            head=head,
            here=here,
            there=there,
            head_follows=tuple(head_follows.bool().tolist()),
            word_follows=tuple(word_follows.bool().tolist()),
            query=query,
            parts=parts,
            of_parts=of_parts,
            of_roles=of_roles,
            weights=weights,
            carried=carried,
            odds=odds,
            exchanged=exchanged.view(-1, len(EXCHANGED), len(MEASURES)),
            positions=torch.from_numpy(total.rows["positions"]),
        )

    of_chunk = ByModels(partial(_explained_chunk, head=head), (reader,))
    return over_corpus(pairs, Sum(of_chunk=of_chunk, finish=finish), progress)


@torch.inference_mode()
def _explained_chunk(reader: Reader, some: Sequence[TwinPair], progress: Progress, *, head: HeadName | None) -> Partial:
    skipped, rows, names, positions = Counter[str](), list[Tensor](), list[str](), [torch.zeros(0, 2)]
    parts = tuple(_parts_of(reader))
    for pair in some:
        found = _explained(reader, pair, head)
        if isinstance(found, str):
            skipped[str(found)] += 1
        else:
            names.append(pair.name)
            numbers, of_positions = _numbers(reader, found, parts)
            rows.append(numbers)
            positions.append(of_positions)
        progress(1)
    tables = {"positions": torch.cat(positions).numpy()} | ({"numbers": torch.stack(rows).numpy()} if rows else {})
    return Partial(dict(skipped), {**packed("name", names), **tables})


@dataclass(frozen=True, eq=False)
class _Explained:
    reason: Reason
    trace: Trace
    twin: Trace
    roles: tuple[int, ...]  #: of each position of the keys' stack, the number of its role

    @property
    def words(self) -> Words:
        """The positions of each role but the last."""
        return Words(*(tuple(at for at, role in enumerate(self.roles) if role == number) for number in range(3)))


def _both(reader: Reader, pair: TwinPair) -> tuple[Trace, Trace] | str:
    try:
        trace = reader.trace(pair.text)
        twin = trace_twin(reader, trace, pair.twin)
    except InputTextError:
        return said("blank, or too long for this model")
    if pair.case is not None:
        ours, theirs = (each.source_ids or each.target_ids for each in (trace, twin))
        changed = sum(one != other for one, other in zip(ours, theirs, strict=False))
        if len(ours) != len(theirs) or changed > MOST_CHANGED:
            return NOT_ALIGNED
    return trace, twin


def _site_of(trace: Trace) -> str:
    return "decoder.cross" if "decoder.cross" in trace.sites else trace.sites[0]


def _spans(reader: Reader, trace: Trace, case: PronounCase) -> tuple[int, tuple[tuple[int, ...], ...]] | str:
    """The row of a case's pronoun, and the positions of pronoun, antecedent and distractor; or why they are unknown."""
    rows, read = pronoun_rows(reader, trace, case, _site_of(trace)), read_case(reader, case)
    if isinstance(rows, str) or isinstance(read, str):
        return rows if isinstance(rows, str) else str(read)
    return rows[-1], read.pieces


def _turning_head(reader: Reader, pairs: Sequence[TwinPair], progress: Progress) -> HeadName:
    """The head that moves most weight from antecedent to distractor between text and twin, on average."""

    def finish(total: Partial) -> HeadName:
        moved = total.sums["moved"]
        if not moved.ndim:
            raise DataError("No pair could be explained: {reasons}.", reasons=NOT_ALIGNED)
        layer, head = np.unravel_index(int(moved.argmax()), moved.shape)
        site = "decoder.cross" if "decoder.cross" in reader.abilities.heads else next(iter(reader.abilities.heads))
        return HeadName(site, int(layer), int(head))

    return over_corpus(pairs, Sum(of_chunk=ByModels(_moved_chunk, (reader,)), finish=finish), progress)


@torch.inference_mode()
def _moved_chunk(reader: Reader, some: Sequence[TwinPair], progress: Progress) -> Partial:
    moved: Tensor | float = 0.0
    for pair in some:
        assert pair.case is not None
        both = _both(reader, pair)
        if not isinstance(both, str) and not isinstance(spans := _spans(reader, both[0], pair.case), str):
            row, (_, key, rival) = spans
            site, (here, there) = _site_of(both[0]), both
            weights = [
                here.weights(site, layer, rows=[row])[:, 0] - there.weights(site, layer, rows=[row])[:, 0]
                for layer in range(here.layers_of(site))
            ]
            change = torch.stack(weights)
            moved = moved + (change[:, :, list(key)].sum(-1) - change[:, :, list(rival)].sum(-1))
        progress(1)
    return Partial({"moved": np.asarray(moved)}, {})


def _explained(reader: Reader, pair: TwinPair, head: HeadName | None) -> _Explained | str:
    """The change of a pair, or why it is left out."""
    both = _both(reader, pair)
    if isinstance(both, str):
        return both
    trace, twin = both
    roles = dict.fromkeys(ROLES, tuple[int, ...]())
    if pair.case is None or head is None:
        question = telling_cell(trace, twin)
        if question is None:
            return NO_CELL
    else:
        spans = _spans(reader, trace, pair.case)
        if isinstance(spans, str):
            return spans
        row, (pronoun, keys, rivals) = spans
        here, there = (each.weights(head.site, head.layer, [head.head], [row])[0, 0] for each in both)
        key, rival = max(keys, key=lambda at: float(here[at])), max(rivals, key=lambda at: float(there[at]))
        question = Question(site=head.site, layer=head.layer, head=head.head, row=row, key=key, rival=rival)
        roles |= {"pronoun": pronoun, "keys": (*keys, *rivals)}
    try:
        reason = explain(reader.parts, trace, question, twin)
    except TraceError as error:
        if reader.parts.why:
            raise
        return str(error)
    stack = stacks_of(question.site)[1]
    roles["changed"] = unlike(trace, twin)[stack]
    roles["keys"] = roles["keys"] or (question.key, question.rival)
    count = len(trace.source_ids if stack == "encoder" else trace.target_ids)
    number = {at: ROLES.index(role) for role in reversed(ROLES) for at in roles[role]}
    return _Explained(reason, trace, twin, tuple(number.get(at, len(ROLES) - 1) for at in range(count)))


def _numbers(
    reader: Reader, found: _Explained, parts: Sequence[Part]
) -> tuple[Float[Tensor, "number"], Float[Tensor, "position 2"]]:
    """One row of the table, in the order of `ReasonsOverSet`, and its positions."""
    reason, q = found.reason, found.reason.question
    assert reason.there is not None
    assert reason.twin is not None
    shares = reason.query.shares()
    predicted = [
        trace.predicted_ids[len(trace.predicted_ids) - len(trace.target_ids) + row] if trace.predicted_ids else -1
        for trace, row in ((found.trace, q.row), (found.twin, reason.twin.row))
    ]
    follows = reason.here > 0 > reason.there, not q.site.startswith("encoder") and predicted[0] != predicted[1]
    ends = ((found.trace, q.row, q.key), (found.twin, reason.twin.row, reason.twin.rival))
    weights = [float(trace.weights(q.site, q.layer, [q.head], [row])[0, 0, key]) for trace, row, key in ends]
    of_words = (share / reason.total for share in of_roles(reason, found.roles, found.twin))
    of_parts = (shares.get(part, 0.0) / reason.total for part in parts)
    numbers = [reason.here, reason.there, reason.query.total / reason.total, *map(float, follows), *weights]
    tested = mechanism(as_chooser(reader), reason, found.words) if all(follows) else None
    of_mechanism = torch.full((sum(SIZES),), nan) if tested is None else tested.numbers
    row = torch.cat((torch.tensor([*numbers, *of_parts, *of_words]), of_mechanism))
    return row, torch.zeros(0, 2) if tested is None else tested.positions


def of_roles(reason: Reason, roles: Sequence[int], twin: Trace) -> list[float]:
    """What attentions below the query, and the keys, read at the words of each role, of text and twin together."""
    stack = stacks_of(reason.question.site)[1]
    kind: PartKind = "cross" if reason.question.site == "decoder.cross" else "self"
    trace = reason.query.terms[0].run.trace
    back = {to: at for at, to in enumerate(align(trace, twin)[stack]) if to >= 0}
    places: tuple[Mapping[int, int], ...] = ({at: at for at in range(len(roles))}, back)
    sums = [0.0] * len(ROLES)
    reads = [reason.query.follow(part) for part in reason.query.shares() if part.kind == kind]
    for step in (*reads, reason.keys):
        for words, place in zip(step.words(), places, strict=True):
            for position, share in words.items():
                at = place.get(position)
                sums[len(ROLES) - 1 if at is None else roles[at]] += share
    return sums


def _parts_of(reader: Reader) -> Iterator[Part]:
    """All parts that a query may have, in the order of the model."""
    stacks = dict.fromkeys(stacks_of(site)[0] for site in reader.abilities.heads)
    for stack in stacks:
        yield from (Part(kind, stack) for kind in ("embedding", "position", "beginning"))
        yield from (Part(each.kind, stack, each.layer) for each in reader.parts.sublayers(stack))
    yield from (Part("bias"), Part("reading"))
