"""Go back along a trail of short codes, from a score to the words that decided it; each step as plain numbers.

A code is a step: "q" or "k" the side of the score, "c4", "d5", "e3" an attention of a layer (cross, decoder, encoder),
"c4h2" one of its heads, "f4" a feed-forward network, "s10" or "t7" the position of a source or target word, "s10x5"
five positions from there on, "emb" and "pos" what a word begins with. Layers and heads count from 1 in codes, positions
from 0. After the first word, shares are followed through feed-forward networks. What is tested has two codes more:
"S10" and "T7" are words of the twin, "r6" all bars of a step but the six largest.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from model.analysis.reasons.held_run import Part, PartKind
from model.analysis.reasons.score import MAX_STEPS, Reason, Step, Term, align, cancelling, spans_of
from model.analysis.reasons.without import Asked
from model.errors import Message, TraceError, said
from model.parts.weights import Stack

#: A longer trail names no steps: a side, `MAX_STEPS` parts with a word each, and where a word begins.
LONGEST: Final = 2 * MAX_STEPS + 2
#: So many words are tested together at most.
MOST_TOGETHER: Final = 32
_CODE: Final = re.compile(
    r"([cdef])([1-9]\d{0,3})(?:h([1-9]\d{0,3}))?|([st])(0|[1-9]\d{0,5})(?:x([1-9]\d{0,5}))?|(emb|pos)"
)
_REST: Final = re.compile(r"r([1-9]\d{0,5})")
_ATTENTIONS: Final[Mapping[str, tuple[PartKind, Stack]]] = {
    "c": ("cross", "decoder"),
    "d": ("self", "decoder"),
    "e": ("self", "encoder"),
}
_STACKS: Final[Mapping[str, Stack]] = {"s": "encoder", "t": "decoder"}
_BEGINNINGS: Final = {"embedding": "emb", "beginning": "emb", "position": "pos"}
NOT_THERE: Final = said("The step “{code}” does not exist here: no part with this name contributes to this number.")

Kind = Literal["question", "part", "word", "beginning"]


@dataclass(frozen=True)
class Read:
    """From where a number was read: positions shown together → share, of the text and, negative there, of the twin."""

    stack: Stack
    here: Mapping[range, float]
    there: Mapping[range, float]


@dataclass(frozen=True)
class Bar:
    """A part of a number: a sub-layer, a head, a constant, or what was read at a position."""

    share: float
    part: Part | None = None  #: None for a position
    position: int | None = None  #: in the text; None for a part, and for what only the twin has
    count: int = 1  #: of positions from there on
    trail: tuple[str, ...] = ()  #: the codes of the step that asks why of it; none where it cannot be followed


@dataclass(frozen=True, eq=False)
class Level:
    """A step of a trail: a number, and the parts that add up to it."""

    kind: Kind
    trail: tuple[str, ...]  #: the codes up to this step
    total: float
    parts: tuple[Bar, ...]  #: sub-layers and constants, the largest first; of an attention, its heads
    words: tuple[Bar, ...] = ()  #: of an attention, what it read at each position, and constants
    read: Read | None = None  #: the same for text and twin
    part: Part | None = None  #: what is asked of
    stack: Stack | None = None  #: of a position, its stack
    position: int | None = None
    #: what `parts` are the parts of, and whether shares of feed-forward networks have gone to what they read.
    split: Step | None = None
    through: bool = False
    reads: Step | None = None  #: what `words` are the parts of

    @property
    def cancelling(self) -> float:
        """Σ |share| / |Σ share| of the first parts of the number."""
        return cancelling([bar.share for bar in self.words or self.parts])

    def can_take(self, bar: Bar) -> bool:
        """Whether something can stand in place of a bar: not of what no token writes, nor of a word without partner."""
        if bar.position is None or self.reads is None:
            return bar.part is not None and code_of(bar.part) != ""
        partner = self.reads.terms[0].run.partner
        return partner is None or partner[1][self.reads.terms[0].asked.stack][bar.position] >= 0

    def read_by(self, bar: Bar) -> Read | None:
        """Where an attention, or a head, of `parts` read its share; None for another part."""
        if self.split is None or bar.part is None or bar.part.kind not in ("self", "cross") or not bar.trail:
            return None
        return _read(self.split.follow(bar.part, through_networks=self.through))

    def heads(self, bar: Bar) -> tuple[Bar, ...]:
        """The heads of an attention of `parts`, the largest first; none of another part."""
        if self.split is None or bar.part is None or bar.part.kind not in ("self", "cross") or not bar.trail:
            return ()
        return _heads(self.split, bar.part, bar.trail[:-1], through=self.through)


@dataclass(frozen=True)
class Trail:
    """The answers along a trail."""

    reason: Reason
    side: Literal["q", "k"]  #: the side that is followed, query or keys
    levels: tuple[Level, ...]  #: the question first
    refused: Message | None  #: why codes were left out from some on; None where all could be answered

    @property
    def codes(self) -> tuple[str, ...]:
        """Those that were answered."""
        return self.levels[-1].trail


def follow_trail(reason: Reason, codes: Sequence[str]) -> Trail:
    """Answer a trail, or its longest beginning that can be answered.

    Without "q" or "k" the query is followed, or the keys where a twin puts more of the change there.
    """
    side: Literal["q", "k"] = (
        "k" if reason.there is not None and abs(reason.keys.total) > abs(reason.query.total) else "q"
    )
    rest, begun = tuple(codes[:LONGEST]), tuple(code for code in codes[:1] if code in ("q", "k"))
    if begun:
        side, rest = "k" if begun == ("k",) else "q", rest[1:]
    walk = _Walk(_partners(reason), reason.query if side == "q" else reason.keys)
    levels, refused = [walk.question(begun)], None
    for code in rest:
        try:
            levels.append(walk.next(levels[-1], code))
        except TraceError as error:
            refused = error.message
            break
    return Trail(reason, side, tuple(levels), refused)


def asked_at(trail: Trail, code: str) -> Asked:
    """What a code names at the last step of a trail, to be tested: what a code there could ask of, or a side.

    Words are those of the step, joined by "+" if several are to be taken together: "s10+s13". Of a rest, "r6", all is
    taken together that can be. Raises a TraceError if there is nothing of this name.
    """
    level, reason, question = trail.levels[-1], trail.reason, trail.reason.question
    if level.kind == "question" and code in ("q", "k"):
        return (
            Asked(reason.query, (question.row,)) if code == "q" else Asked(reason.keys, (question.key, question.rival))
        )
    if (rest := _REST.fullmatch(code)) is not None:
        return _rest_at(level, code, int(rest[1]))
    of_twin = code[:1] in ("S", "T") and reason.twin is not None
    found = [_CODE.fullmatch(each.swapcase() if of_twin else each) for each in code.split("+", MOST_TOGETHER)]
    if len(found) > MOST_TOGETHER:
        raise TraceError("At most {most} words can be tested together.", most=MOST_TOGETHER)
    words = [each for each in found if each is not None and each[4]]
    if level.reads is not None and len(words) == len(found):
        functional = level.reads.terms[-1 if of_twin else 0].asked
        positions = tuple(dict.fromkeys(at for each in words for at in _positions(each)))
        if {_STACKS[each[4]] for each in words} == {functional.stack} and set(positions) <= set(functional.rows):
            return Asked(level.reads, positions, level.through, of_twin)
    if level.split is not None and (whole := code.partition("h")[0]):
        every = {code_of(part): part for part in level.split.shares(through_networks=level.through)}
        part = every.get(whole)
        if part is not None and whole != code:
            heads = {code_of(head): head for head in level.split.heads(part, through_networks=level.through)}
            part = heads.get(code)
        if part is not None:
            return Asked(level.split, (part,), level.through)
    raise TraceError(NOT_THERE, code=code)


def _rest_at(level: Level, code: str, first: int) -> Asked:
    """All bars of a step from one on, together, as far as something can stand in their place."""
    step, bars = (level.reads, level.words) if level.words else (level.split, level.parts)
    taken: list[Part | int] = []
    for bar in filter(level.can_take, bars[first:]):
        if bar.position is not None:
            taken += range(bar.position, bar.position + bar.count)
        elif bar.part is not None:
            taken.append(bar.part)
    if step is None or not taken:
        raise TraceError(NOT_THERE, code=code)
    return Asked(step, tuple(taken), level.through)


def code_of(part: Part) -> str:
    """What a trail calls a part; "" if it is none that a model computes or reads."""
    return _BEGINNINGS.get(part.kind, "") if part.layer is None else _code(part)


def code_of_words(stack: Stack, positions: range) -> str:
    """What a trail calls positions of a stack."""
    several = f"x{len(positions)}" if len(positions) > 1 else ""
    return f"{'s' if stack == 'encoder' else 't'}{positions.start}{several}"


def _positions(found: re.Match[str]) -> range:
    return range(int(found[5]), int(found[5]) + int(found[6] or 1))


def leading(reason: Reason, codes: Sequence[str] = ()) -> Trail:
    """A trail that goes on from its end by what gives most to each number, until a word begins or no step is left."""
    trail = follow_trail(reason, codes)
    while trail.refused is None and len(trail.codes) < LONGEST:
        towards = strongest(trail.levels[-1])
        if not towards:
            break
        further = follow_trail(reason, towards)
        if further.refused is not None or len(further.levels) <= len(trail.levels):
            break
        trail = further
    return trail


def strongest(level: Level) -> tuple[str, ...]:
    """The codes of what gives most to a number; none where nothing that gives to it can be followed."""
    towards = [bar for bar in level.words or level.parts if bar.trail and bar.share * level.total > 0]
    return max(towards, key=lambda bar: abs(bar.share)).trail if towards else ()


def _partners(reason: Reason) -> Mapping[Stack, tuple[int, ...]]:
    here, *there = [term.run.trace for term in reason.query.terms]
    return align(here, there[0]) if there else {}


@dataclass
class _Walk:
    """Where a trail has come to."""

    partners: Mapping[Stack, tuple[int, ...]]  #: none without a twin
    step: Step  #: what is split
    through: bool = False  #: whether shares of feed-forward networks go to what they read

    def question(self, trail: tuple[str, ...]) -> Level:
        return self._level("question", trail)

    def next(self, level: Level, code: str) -> Level:
        """Go one step back. Raises a TraceError if the code names nothing that can be asked here."""
        found, trail = _CODE.fullmatch(code), (*level.trail, code)
        if found is None or level.kind == "beginning":
            raise TraceError(NOT_THERE, code=code)
        letter, layer, head, side, *_ = found.groups()
        if side:
            return self._word(trail, _STACKS[side], _positions(found))
        shares = self.step.shares(through_networks=self.through)
        if not letter:
            part = next((part for part in shares if _BEGINNINGS.get(part.kind) == code), None)
            if part is None:
                raise TraceError(NOT_THERE, code=code)
            return Level("beginning", trail, shares[part], (), part=part)
        kind, stack = _ATTENTIONS.get(letter, ("feed_forward", self.step.terms[0].asked.stack))
        part = Part(kind, stack, int(layer) - 1)
        if part not in shares or (head and kind == "feed_forward"):
            raise TraceError(NOT_THERE, code=code)
        return self._part(trail, part, None if head is None else int(head) - 1)

    def _part(self, trail: tuple[str, ...], whole: Part, head: int | None) -> Level:
        before, part = self.step, whole._replace(head=head)
        heads = () if whole.kind == "feed_forward" else _heads(before, whole, trail[:-1], through=self.through)
        if head is not None and part not in {bar.part for bar in heads}:
            raise TraceError(NOT_THERE, code=trail[-1])
        self.step = before.follow(part, through_networks=self.through)
        if whole.kind == "feed_forward":
            return replace(self._level("part", trail), part=part)
        read = _read(self.step)
        parts, words = () if head is not None else heads, self._words(trail, read)
        level = Level("part", trail, self.step.total, parts, words, read, part, split=before, through=self.through)
        return replace(level, reads=self.step)

    def _word(self, trail: tuple[str, ...], stack: Stack, positions: range) -> Level:
        asked, first = self.step.terms[0].asked, positions.start
        if stack != asked.stack or not set(positions) <= set(asked.rows):
            raise TraceError(NOT_THERE, code=trail[-1])
        self.step = self.step.at(positions, self.partners[stack][first] if self.partners else None)
        self.through = True
        return replace(self._level("word", trail), stack=stack, position=first)

    def _level(self, kind: Kind, trail: tuple[str, ...]) -> Level:
        shares = self.step.shares(through_networks=self.through)
        bars = tuple(self._bar(trail, part, share) for part, share in shares.items())
        return Level(kind, trail, self.step.total, bars, split=self.step, through=self.through)

    def _bar(self, trail: tuple[str, ...], part: Part, share: float) -> Bar:
        code = code_of(part)
        is_end = part.layer is not None and self.step.count >= MAX_STEPS
        return Bar(share, part, trail=(*trail, code) if code and not is_end else ())

    def _words(self, trail: tuple[str, ...], read: Read) -> tuple[Bar, ...]:
        """What was read at each position; of positions of the twin alone, and of constants, their sums."""
        theirs, bars = {places.start: share for places, share in read.there.items()}, []
        for places, share in read.here.items():
            partner = self.partners[read.stack][places.start] if self.partners else -1
            code, both = code_of_words(read.stack, places), share + theirs.pop(partner, 0.0)
            bars.append(Bar(both, None, places.start, len(places), (*trail, code)))
        if theirs:
            bars.append(Bar(sum(theirs.values())))
        bars += (Bar(share, part) for part, share in self.step.constants.items())
        return tuple(sorted(bars, key=lambda bar: -abs(bar.share)))


def _read(step: Step) -> Read:
    here, *there = (_together(term, words) for term, words in zip(step.terms, step.words(), strict=True))
    return Read(step.terms[0].asked.stack, here, there[0] if there else {})


def _together(term: Term, words: Mapping[int, float]) -> dict[range, float]:
    """The sums over the positions that are shown together."""
    read = (
        (places, [words[at] for at in places if at in words]) for places in spans_of(term.run.trace, term.asked.stack)
    )
    return {places: sum(shares) for places, shares in read if shares}


def _heads(step: Step, part: Part, trail: tuple[str, ...], *, through: bool) -> tuple[Bar, ...]:
    shares = step.heads(part._replace(head=None), through_networks=through)
    return tuple(Bar(share, head, trail=(*trail, _code(head))) for head, share in shares.items())


def _code(part: Part) -> str:
    assert part.layer is not None
    letter = next((letter for letter, known in _ATTENTIONS.items() if known == part[:2]), "f")
    return f"{letter}{part.layer + 1}" if part.head is None else f"{letter}{part.layer + 1}h{part.head + 1}"
