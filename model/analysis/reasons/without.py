"""What a part or a word does to a score and to what is written, tested: the model without it.

A share explains a score and does not predict what is left without a part: norms, weights and gates that were held move.
So every share has two partners. *By a product*: the part is exchanged in the stream, norms are computed anew, and the
score by one product. *By a run*: all that lies above the part is run again (Vig et al. 2020; Meng et al. 2022, as in
`model.analysis.interventions.patching`). In its place comes what the twin has there; without a twin the mean over the
text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.interventions.word_pairs import said_at
from model.analysis.reasons.held_run import BEGINNINGS, Functional, HeldRun, Part, sublayer_of
from model.analysis.reasons.score import Reason, Step
from model.errors import Message, TraceError, said
from model.nn.hooks import Edit, listen
from model.parts.run import Change
from model.parts.weights import Norm, Stack, Sublayer
from model.reader import Writer
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace, output_hook

#: Tokens that are written on at most.
MOST_WRITTEN: Final = 24
#: Of a reason, whose two words are compared at a row: they take two runs to find.
_PAIRS: Final[WeakKeyDictionary[Reason, dict[int, tuple[int, int]]]] = WeakKeyDictionary()
NO_PARTNER: Final = said("The other sentence has no token at this position, so nothing can be taken from there.")
NOTHING_READ: Final = said("Nothing is read at this position in this step, so nothing can be tested there.")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a run gives: a score, two weights, and what is written."""

    score: float  #: log of the ratio of the weights of key and rival (with a soft cap: the difference of scores)
    key_weight: float
    rival_weight: float
    pair: tuple[str, str]  #: the token that was written, and the twin's or the runner-up; ("", "") if none is said
    log_odds: float | None  #: of the first of the pair against the second, nats; None if none is said
    text: str  #: what is written greedily from the row on, at most `MOST_WRITTEN` tokens by default


@dataclass(frozen=True, kw_only=True)
class Product:
    """A part or a word of a step, and what is left of the score without it, by one product."""

    share: float  #: of what the step splits
    predicted: float  #: the score without it, as the share has it: with all that was held
    by_product: float  #: the score by one product, norms computed anew; in steps back, with weights above them held


@dataclass(frozen=True, kw_only=True)
class Outcome(Product):
    """The same, and what is left by a run."""

    by_run: Measured


class Asked(NamedTuple):
    """What is to be tested: parts of a step, or positions of the stack that it reads; several are taken together."""

    step: Step
    what: tuple[Part | int, ...]
    through_networks: bool = False  #: as of `Step.shares`: whether the share is one through feed-forward networks
    of_twin: bool = (
        False  #: whether it is taken out of the twin, its positions those of the twin, and comes from the text
    )


def without(
    reader: Chooser,
    reason: Reason,
    step: Step,
    *what: Part | int,
    through_networks: bool = False,
    of_twin: bool = False,
    word_row: int | None = None,
) -> Outcome:
    """Test a share of a step of an answer. With a twin its place is taken by what the twin has, else by the mean.

    Args:
        reader: the model that the reason is of.
        step: of the reason. Parts are exchanged at the rows that the step reads; positions are of the stack that it
            reads, and what stands there is exchanged for all that reads it from there on.
        what: parts of the step, or positions; several at once are taken together.
        through_networks: whether the share is one that goes through feed-forward networks.
        of_twin: the mirrored test: positions are the twin's, and what the text has is exchanged in the twin's run.
        word_row: the decoder's row whose token is asked about; by default the question's.

    Raises a TraceError if a part can not be taken out, a position has no partner in the twin, or nothing is read there.
    """
    (outcome,) = outcomes(reader, reason, [Asked(step, what, through_networks, of_twin)], word_row)
    return outcome


def as_it_is(
    reader: Chooser,
    reason: Reason,
    word_row: int | None = None,
    *,
    of_twin: bool = False,
    most_written: int = MOST_WRITTEN,
) -> Measured:
    """What the run gives with nothing taken out. Arguments as of `without` and `outcomes`."""
    test = _Test.of(reader, reason, word_row, most_written)
    return (test.mirrored if of_twin else test).measured((), {})


def outcomes(
    reader: Chooser,
    reason: Reason,
    asked: Iterable[Asked],
    word_row: int | None = None,
    *,
    most_written: int = MOST_WRITTEN,
) -> Iterator[Outcome]:
    """As `without`, one after the other; `most_written`: tokens of the text that is written then, which takes time."""
    test = _Test.of(reader, reason, word_row, most_written)
    for each in asked:
        yield (test.mirrored if each.of_twin else test).outcome(each)


def products(reason: Reason, asked: Iterable[Asked]) -> "Iterator[Product | Message]":
    """What each leaves by one product, without a run of its own, or in a sentence why it cannot be tested."""
    memory = _MemoryRead(reason)
    for each in asked:
        try:
            yield _product(memory.mirrored if each.of_twin else memory, _Taken.of(each))
        except TraceError as error:
            yield error.message


@torch.inference_mode()
def _product(memory: "_MemoryRead", taken: "_Taken") -> Product:
    reason = memory.reason
    return Product(
        share=taken.share, predicted=reason.here - memory.falls(taken), by_product=_by_product(reason, taken)
    )


@dataclass(frozen=True, eq=False)
class _Test:
    """A question, the run that it is of, and the words that are compared."""

    reader: Chooser
    reason: Reason
    word: TokenPlace | None  #: where a token is said; None if nowhere
    pair: tuple[int, int]
    most_written: int
    other: TokenPlace | None = None  #: the same place in the twin

    @cached_property
    def mirrored(self) -> "_Test":
        """Of the same question about the twin, and the same words."""
        return replace(self, reason=self.reason.mirrored, word=self.other, other=self.word)

    @cached_property
    def memory(self) -> "_MemoryRead":
        return _MemoryRead(self.reason)

    @classmethod
    def of(cls, reader: Chooser, reason: Reason, word_row: int | None, most_written: int = MOST_WRITTEN) -> "_Test":
        here, question = reason.query.terms[0].run.trace, reason.question
        is_encoder_question = question.site == "encoder.self" and bool(here.target_ids)
        row = question.row if word_row is None and not is_encoder_question else word_row
        if row is None or "word choice" in reader.abilities.lacks:
            return cls(reader, reason, None, (-1, -1), most_written)
        word = other = _place(here, row)
        written = here.target_ids[row + 1] if row + 1 < len(here.target_ids) else None
        if len(reason.query.terms) > 1:
            there = reason.query.terms[1].run.trace
            moved = row if reason.twin is None or word_row is not None else reason.twin.row
            other = _place(there, moved)
        pairs = _PAIRS.setdefault(reason, {})
        if row not in pairs:
            pairs[row] = said_at(reader, word, other, written)
        return cls(reader, reason, word, pairs[row], most_written, other)

    @torch.inference_mode()
    def outcome(self, asked: Asked) -> Outcome:
        """One test."""
        taken = _Taken.of(asked)
        return Outcome(**asdict(_product(self.memory, taken)), by_run=self.measured(taken.changes, taken.heads))

    @torch.inference_mode()
    def measured(self, changes: Sequence[Change], heads: dict[str, Edit]) -> Measured:
        """What a run gives, with these vectors and heads exchanged."""
        run, q = self.reason.query.terms[0].run, self.reason.question
        trace = run.trace

        @contextmanager
        def edited() -> Iterator[None]:
            with run.whole.changed(changes), listen(edits=heads):
                yield

        place = TokenPlace(trace.source_ids, trace.target_ids, 0, trace.token_inputs)
        with edited():
            again = self.reader.trace_place(place, (*trace.source_ids, *trace.target_ids)[-1])
        scores = again.scores(q.site, q.layer, [q.head], [q.row])[0, 0]
        weights = again.weights(q.site, q.layer, [q.head], [q.row])[0, 0]
        odds, text = None, ""
        if self.word is not None:
            odds, text = self._written(self.word, edited)
        return Measured(
            score=float(scores[q.key] - scores[q.rival]),
            key_weight=float(weights[q.key]),
            rival_weight=float(weights[q.rival]),
            pair=("", "") if self.word is None else cast(tuple[str, str], self.reader.vocabulary.tokens(self.pair)),
            log_odds=odds,
            text=text,
        )

    def _written(self, word: TokenPlace, edited: Callable[[], AbstractContextManager[None]]) -> tuple[float, str]:
        """The log-odds of the pair, and what is written from there on."""
        reader, abilities = self.reader, self.reader.abilities
        with edited():
            reads = reader.reads_on(word.source) if abilities.generates else None
            logits = reader.place_logits(word)[0] if reads is None else reads(word.target)
        odds, written = float(logits[self.pair[0]] - logits[self.pair[1]]), [int(logits.argmax())]
        if reads is not None:
            limit = abilities.max_target_length if word.source else abilities.max_length
            most = self.most_written if limit is None else min(self.most_written, limit - word.row)
            ends = cast(Writer, reader).end_ids
            # What is exchanged stands in what has been read, and later rows read it there.
            while len(written) < most and written[-1] not in ends:
                written.append(int(reads(written[-1:]).argmax()))
        return odds, reader.vocabulary.decode(written)


@dataclass(frozen=True, eq=False)
class _Put:
    """What a part puts out at some rows, and what comes in its place."""

    run: HeldRun
    part: Part
    rows: tuple[int, ...]

    @property
    def is_head(self) -> bool:
        return self.part.head is not None

    @property
    def number(self) -> int:
        """Of its sub-layer in its stack; −1 of what a stack begins with."""
        if self.part.kind in BEGINNINGS:
            return -1
        sublayer = sublayer_of(self.part)
        return self.run.parts.sublayers(sublayer.stack).index(sublayer)

    @property
    def more(self) -> Float[Tensor, "row d_model"]:
        """By how much the other is more than its own."""
        every = _put_out(self.run, self.part)
        own = every[list(self.rows)]
        if self.run.partner is not None:
            other, positions = _in_twin(self.run, self.part.stack, self.rows)
            return _put_out(other, self.part)[list(positions)] - own
        return every.mean(0) - own

    def head_output(self) -> Float[Tensor, "row_or_one d_v"]:
        """What a head puts out instead, before W_O."""
        sublayer = sublayer_of(self.part)
        assert sublayer.site is not None
        assert self.part.head is not None
        at = (sublayer.site, sublayer.layer, [self.part.head])
        if self.run.partner is not None:
            other, positions = _in_twin(self.run, self.part.stack, self.rows)
            return other.trace.head_output(*at, rows=list(positions))[0]
        return self.run.trace.head_output(*at)[0].mean(0, keepdim=True)


@dataclass(frozen=True, eq=False)
class _Taken:
    """What is taken out of a step."""

    step: Step
    through_networks: bool
    positions: tuple[int, ...]
    puts: tuple[_Put, ...]

    @classmethod
    def of(cls, asked: Asked) -> "_Taken":
        """Raises a TraceError as `without`."""
        step = asked.step.mirrored if asked.of_twin else asked.step
        run, functional = step.terms[0].run, step.terms[0].asked
        positions = tuple(each for each in asked.what if isinstance(each, int))
        parts = [each for each in asked.what if not isinstance(each, int)]
        is_twin_alone = step.terms[0].sign < 0
        if is_twin_alone or not asked.what or not functional.rows or not set(positions) <= set(functional.rows):
            raise TraceError(NOTHING_READ)
        if constants := [part for part in parts if part.kind not in (*BEGINNINGS, "self", "cross", "feed_forward")]:
            raise TraceError("{part} cannot be taken out of the model.", part=constants[0].kind)
        puts = tuple(_Put(run, part, functional.rows) for part in parts)
        return cls(step, asked.through_networks, positions, puts)

    @property
    def run(self) -> HeldRun:
        """Of the text."""
        return self.step.terms[0].run

    @cached_property
    def asked(self) -> Functional:
        """What is asked of the text's stream."""
        return self.run.of_stream(self.step.terms[0].asked)

    @property
    def share(self) -> float:
        """Of what the step splits."""
        shares = self.step.shares(through_networks=self.through_networks)
        total = self._words(self.step)
        for put in self.puts:
            part = put.part
            # Of what is not read here a TraceError says so.
            self.run.asked_of(self.asked, part, through_networks=self.through_networks)
            of_heads = self.step.heads(part, through_networks=self.through_networks) if put.is_head else shares
            total += of_heads.get(part, 0.0)
        return total

    def falls(self, step: Step) -> float:
        """By how much the score falls as the shares of a step that reads the same stream have it."""
        if len(step.terms) > 1:
            return self.share if step is self.step else self._words(step)
        asked, total = self.run.of_stream(step.terms[0].asked), 0.0
        for put in self.puts:
            c = self.run.asked_of(asked, put.part, through_networks=self.through_networks)
            total -= float((c * put.more).sum())
        at = [number for number, row in enumerate(asked.rows) if row in self.positions]
        rows = [asked.rows[number] for number in at]
        change = _stream(self.run, asked)[rows] - self.stream[rows]
        return total + float((asked.vectors[at] * change).sum())

    def _words(self, step: Step) -> float:
        """The share of its positions."""
        if not self.positions:
            return 0.0
        places = [self.positions]
        # A twin that reads nothing at these positions is left out of a step.
        if self.run.partner is not None and len(step.terms) > 1:
            places.append(_in_twin(self.run, step.terms[0].asked.stack, self.positions)[1])
        of_texts = zip(step.words(), places, strict=True)
        return sum(words.get(position, 0.0) for words, positions in of_texts for position in positions)

    @property
    def changes(self) -> list[Change]:
        """For a run, without heads."""
        return [*self._of_parts([put for put in self.puts if not put.is_head]), *self._of_positions()]

    @property
    def heads(self) -> dict[str, Edit]:
        """For a run: of its heads."""
        at: dict[str, list[_Put]] = {}
        for put in self.puts:
            if put.is_head:
                sublayer = sublayer_of(put.part)
                assert sublayer.site is not None
                at.setdefault(output_hook(sublayer.site, sublayer.layer), []).append(put)
        return {name: partial(_with_heads, puts) for name, puts in at.items()}

    @cached_property
    def stream(self) -> Float[Tensor, "row d_model"]:
        """What the step reads, with all else that was added as it was, and norms between computed anew."""
        asked = self.asked
        changes = {each.number: each for each in (*self._of_parts(self.puts), *self._of_positions())}
        x = self.run.additions(asked.stack)[0].before
        if -1 in changes:
            x = changes[-1](x[None])[0]
        for number, addition in enumerate(self.run.additions(asked.stack)[: asked.depth]):
            added = changes[number](addition.added[None])[0] if number in changes else addition.added
            x = x + added if addition.has_skip else added
            x = addition.norm.norm(x) if addition.is_post and addition.norm is not None else x
        return x

    def _of_parts(self, puts: Sequence[_Put]) -> list[Change]:
        stack, changes = self.asked.stack, []
        for number in dict.fromkeys(put.number for put in puts):
            here = [put for put in puts if put.number == number]
            more, rows = torch.stack([put.more for put in here]).sum(0), here[0].rows
            if number < 0:
                start = self.run.start(stack)
                summed = start.summed[list(rows)] + more
                changes.append(Change(stack, number, rows, summed if start.norm is None else start.norm(summed)))
            else:
                added = _added_with(self.run, self.run.parts.sublayers(stack)[number], rows, more)
                changes.append(Change(stack, number, rows, added))
        return changes

    def _of_positions(self) -> list[Change]:
        """What the last sub-layer must add, so that something else stands there."""
        if not self.positions:
            return []
        asked, rows = self.asked, list(self.positions)

        def summed(run: HeldRun) -> Float[Tensor, "row d_model"]:
            additions = run.additions(asked.stack)
            return additions[asked.depth - 1].summed if asked.depth else additions[0].before

        if self.run.partner is None:
            instead = summed(self.run).mean(0).expand(len(rows), -1)
        else:
            other, positions = _in_twin(self.run, asked.stack, self.positions)
            instead = summed(other)[list(positions)]
        if asked.depth:
            last = self.run.additions(asked.stack)[asked.depth - 1]
            instead = instead - last.before[rows] if last.has_skip else instead
        return [Change(asked.stack, asked.depth - 1, self.positions, instead)]


@dataclass(frozen=True, eq=False)
class _MemoryRead:
    """What a question has read of the encoder's output."""

    reason: Reason

    @cached_property
    def mirrored(self) -> "_MemoryRead":
        """The same of the twin."""
        return _MemoryRead(self.reason.mirrored)

    @cached_property
    def steps(self) -> list[Step]:
        """Of each cross-attention below the head that is asked about, and of its own keys."""
        q, query = self.reason.question, self.reason.query
        reading = [query.follow(Part("cross", "decoder", layer)) for layer in range(q.layer)]
        return [*reading, self.reason.keys] if q.site == "decoder.cross" else reading

    def falls(self, taken: _Taken) -> float:
        """The share of what is taken out in the score; of the encoder's output, read by all that reads it."""
        asked = taken.asked
        is_output = asked.stack == "encoder" and asked.depth == len(taken.run.parts.sublayers("encoder"))
        if not taken.positions or not is_output or self.reason.question.site == "encoder.self":
            return taken.falls(taken.step)
        return sum(map(taken.falls, self.steps))


def _by_product(reason: Reason, taken: "_Taken") -> float:
    """The score by one product; a step back, with all held that is above the norm which reads the stream."""
    run, asked, side = taken.run, taken.asked, taken.step.side
    norm = _norm_that_reads(run, asked)
    if taken.step.count:
        rows = list(asked.rows)
        before, after = _stream(run, asked)[rows], taken.stream[rows]
        if norm is not None:
            after = after * norm.divisor(before) / norm.divisor(after)
        return reason.here - float((asked.vectors * (before - after)).sum())
    q = reason.question
    rows = [q.row] if side == "query" else [q.key, q.rival]
    read = taken.stream[rows] if norm is None else norm(taken.stream[rows])
    weights, inputs = run.weights(q.site, q.layer), run.attention(q.site, q.layer)
    projection, used = (weights.query, inputs.query) if side == "query" else (weights.key, inputs.key)
    used = used.float().clone()
    used[:, rows] = run.turns(q.site, q.layer, "query" if side == "query" else "key", rows)(projection(read))
    again = replace(inputs, query=used) if side == "query" else replace(inputs, key=used)
    scores = again.scores_and_weights([q.head], [q.row]).scores[0, 0]
    return float(scores[q.key] - scores[q.rival])


def _place(trace: Trace, row: int) -> TokenPlace:
    """Where a token is said after a row of the decoder, or at a row of an encoder alone."""
    if not trace.target_ids:
        return TokenPlace(trace.source_ids, (), row, trace.token_inputs)
    return TokenPlace(trace.source_ids, trace.target_ids[: row + 1], row)


def _stream(run: HeldRun, asked: Functional) -> Float[Tensor, "row d_model"]:
    """What is asked about, at every row."""
    additions = run.additions(asked.stack)
    return additions[asked.depth].before if asked.depth < len(additions) else additions[-1].after


def _put_out(run: HeldRun, part: Part) -> Float[Tensor, "row d_model"]:
    """What a part puts out at every row, before a norm of that, or a factor, and before it is added."""
    assert part.stack is not None
    if part.kind in BEGINNINGS:
        start = run.start(part.stack)
        if part.kind == "beginning":
            return start.summed
        zero = torch.zeros_like(start.summed)
        embedding, positional = (zero if each is None else each for each in (start.embedding, start.positional))
        if part.kind == "token_type":
            return start.summed - embedding - positional
        return embedding if part.kind == "embedding" else positional
    sublayer = sublayer_of(part)
    if part.head is not None and sublayer.site is not None:
        output = run.trace.head_output(sublayer.site, sublayer.layer, [part.head])[0]
        return output @ run.parts.output(sublayer.site, sublayer.layer)[part.head]
    wrote = run.additions(part.stack)[_Put(run, part, ()).number]
    if wrote.output_norm is not None:
        return wrote.output_norm.before
    return wrote.added / run.factor(sublayer, range(len(wrote.added)))


def _added_with(
    run: HeldRun, sublayer: Sublayer, rows: Sequence[int], more: Float[Tensor, "row d_model"]
) -> Float[Tensor, "row d_model"]:
    """What a sub-layer would add at rows if it put out this much more there."""
    wrote, chosen = run.additions(sublayer.stack)[run.parts.sublayers(sublayer.stack).index(sublayer)], list(rows)
    if wrote.output_norm is not None:
        return wrote.output_norm.norm(wrote.output_norm.before[chosen] + more)
    return wrote.added[chosen] + run.factor(sublayer, chosen) * more


def _norm_that_reads(run: HeldRun, asked: Functional) -> Norm | None:
    additions = run.additions(asked.stack)
    if asked.depth == len(additions):
        return run.parts.final_norm(asked.stack)
    step, is_post = additions[asked.depth].norm, additions[asked.depth].is_post
    return None if step is None or is_post else step.norm


def _in_twin(run: HeldRun, stack: Stack | None, rows: Sequence[int]) -> tuple[HeldRun, tuple[int, ...]]:
    assert run.partner is not None
    assert stack is not None
    other, positions = run.partner
    found = tuple(positions[stack][row] for row in rows)
    if min(found) < 0:
        raise TraceError(NO_PARTNER)
    return other, found


def _with_heads(
    puts: Sequence[_Put], output: Float[Tensor, "batch head row d_v"]
) -> Float[Tensor, "batch head row d_v"]:
    changed = output.clone()
    for put in puts:
        changed[:, put.part.head, list(put.rows)] = put.head_output().to(output)
    return changed
