"""Describe each head by the rule that tells most about it, or by what is unusual about it in its model; or by neither.

1. What rests is set aside (`measure`); a head that rests `MOST` of its weight is said to, and of one that rests
   `ASLEEP` the rest is told only where hardly any head has more of it.
2. A rule is a cell (`cells`): its gain is the Kullback–Leibler divergence in nats between the share of the free weight
   that the head gives it and the share that an even look would, times the part of the weight whose rows have such a
   key. The largest gain is the rule: an even look is no rule.
3. It must hold: in `ROWS` rows and half as many texts, clearly above an even look, in most texts, and be no less than
   the middle head's share unless it is `MOST` of this head's weight; and it must tell a part of what sets the head
   apart from an even look (`WEAK`, `CLEAR`), or be among the strongest of its model; and be `LEAST` of its weight.
4. Otherwise that it looks at `BROAD` of the keys; or the most unusual metric within this model, if its interval lies
   off the middle head's value, or that it looks at the same keys in every row, if that is `MOST` of the variance of its
   weights; or the largest part that is clearly above an even look, which sets it apart from nobody; otherwise nothing.
5. What more is said, at most `MORE` things: sinks; rows of which tokens rest less, follow another rule, or do not
   follow this one; of a weak rule, one that many heads follow, or none, the largest part that few heads have, and what
   is unusual; else the tokens that it likes, whoever asks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Literal

import numpy as np

from model.analysis.head_description.cells import CELLS_OF_KINDS, FUNCTION_KINDS, KINDS, PARTS
from model.analysis.head_description.measure import OTHERS, Measured
from model.analysis.head_description.table import (
    ABOVE,
    FEW_HEADS,
    MOST,
    ROWS,
    SINK,
    SINK_ANSWER,
    SINK_SHARE,
    HeadTable,
    Number,
    RestPlace,
    gain,
)
from model.analysis.metrics.head_jobs import RULES, HeadJob
from model.analysis.metrics.head_metrics import CROSS, ENCODER, HeadName
from model.trace.axes import is_punctuation

#: Shares of weight at rest.
IDLE: Final = 0.75
ASLEEP: Final = 0.9
#: From here on nothing is said of the rest.
GONE: Final = 0.98
#: Nats below which a head spreads over nearly everything.
EVEN: Final = 0.15
#: A head without a rule that looks at this part of the keys spreads over most of them.
BROAD: Final = 0.7
#: A rule tells this part of a head's divergence, or so many nats; or these and it is among the first of its model.
WEAK: Final = 0.25
CLEAR: Final = 0.12
FAINT: Final = 0.05
FIRST_HEADS: Final = 0.05
#: A cell is an answer as an unusual metric, or as the largest part, only from this part of the free weight on.
NOTICED: Final = 0.1
#: Many heads follow a rule that this part of them follow more.
COMMON: Final = 0.2
#: A rule, or a part that is an answer, is at least this share of the free weight.
LEAST: Final = 0.2
#: A mean distance is said to be short or long if its interval is beyond these multiples of an even look's.
SHORT: Final = 0.8
LONG: Final = 1.25
#: Kinds of rows in which a head rests least rest so much less than the next kind.
AWAKE: Final = 0.08
#: The same of function words beside content words; so much less of a rule are the rows that do not follow it.
APART: Final = 0.25
#: Things that are said beside the answer, at most.
MORE: Final = 2
#: A rule below this share is not all that is said.
WEAK_SHARE: Final = 0.35
#: Nats below which "spreads" says nearly all; above them, rows of a kind with so much more of a cell are told.
NEARLY_EVEN: Final = 0.25
#: Nats that the largest part of what is no rule has, to be said.
A_PART: Final = 0.02
#: Metrics that correlate more than this over heads say the same.
ALIKE: Final = 0.8
#: A token is a favourite from so many times an even look on, with this part of the free weight, above it in this part
#: of its texts.
FAVOURITE: Final = 2.0
FAVOURITE_SHARE: Final = 0.03
FAVOURITE_STEADY: Final = 0.75
Kind = Literal["rule", "leftover", "too little", "spreads", "sinks", "unusual", "mixed", "nothing"]
#: Jobs that no cell says better.
OWN_JOBS: Final = ("antecedent", "aer_word_out", "aer_word_in", "prefix_matching", "duplicate")


@dataclass(frozen=True, slots=True)
class More:
    """What more is said of a head."""

    kind: Literal["sinks", "awake", "asks", "fails", "columns", "unusual", "part", "favourites"]
    query: str = ""  #: of "awake", "asks" and "fails", the kind of the row's token, of `KINDS`, or "function"
    cell: str = ""  #: of "asks" and "fails"; of "awake", the kind of the rows beside which it is, "" for all
    share: float = 0.0  #: free weight · share of the cell · part of the picture
    usual: float = 0.0  #: the same whoever asks
    number: Number | None = None  #: of "unusual" and "part"


@dataclass(frozen=True, slots=True)
class HeadDescription:
    """What is to be said of a head."""

    head: HeadName
    #: what `main` is: a rule · a rule for the little that a resting head leaves · too little is left · nearly even ·
    #: at rest on `sinks` · unusual in its model · no rule, only a largest part · nothing simple
    kind: Kind
    main: Number | None  #: None of "too little", "sinks" and "nothing"
    is_most: bool  #: of a rule, whether it is most of the free weight
    job: HeadJob | None  #: what it was measured to do, which is said first
    rest: Number
    rest_on: tuple[RestPlace, ...]  #: where any head of the site rests
    more: tuple[More, ...]
    parts: tuple[Number, ...]  #: of a rule that is made of others, the two of them with the largest shares
    favourites: tuple[tuple[str, float], ...]  #: tokens, and how many times an even look they get
    sinks: tuple[str, ...]  #: tokens on which many heads of the site rest
    on_sinks: float  #: the share of free weight that they get
    even_on_sinks: float  #: what an even look would give them
    unusual: tuple[Number, ...]  #: up to four, the most unusual first, none that says the same as another
    #: of a cross-attention, whether its cells tell the source of what a row writes from that of what it reads; else all
    #: heads look alike, for one of the two
    tells_sources: bool
    writes: bool  #: whether a row stands for the token that it writes (`Trace.rows_write`)
    fill: Number
    #: by_distance, same_keys: parts of the variance of its weights.
    by_distance: Number
    same_keys: Number
    texts: int
    rows: int
    short: int  #: how many tokens the shortest third of the texts have at most
    long: int  #: how many the longest have at least

    @property
    def is_common(self) -> bool:
        """Whether many heads of the model follow its rule more, and the typical one nearly as much."""
        main = self.main
        if self.kind != "rule" or main is None or main.heads < FEW_HEADS:
            return False
        return main.rank > COMMON * main.heads and main.value < ABOVE * main.middle and not self.is_less

    @property
    def is_less(self) -> bool:
        """Whether it follows a rule that the typical head follows clearly more."""
        main = self.main
        return self.kind == "rule" and main is not None and main.heads >= FEW_HEADS and main.value < main.middle - 0.05

    @property
    def sinks_are_marks(self) -> bool:
        """Whether all its sinks are punctuation."""
        return all(map(is_punctuation, self.sinks))

    @property
    def is_idle(self) -> bool:
        """Whether it rests most of its weight."""
        return self.rest.value >= MOST


def describe_heads(measured: Measured) -> dict[HeadName, HeadDescription]:
    """Every head of a model whose weights are numbers."""
    found: dict[HeadName, HeadDescription] = {}
    for site in measured.heads:
        sums, names = measured.sites[site], measured.names(site)
        finite = np.flatnonzero(np.isfinite(sums.divergence.sum(0)))
        if not len(finite):
            continue
        table = _Describing(sums.of_heads(finite), site, writes=site != ENCODER and CROSS in measured.heads)
        known = _jobs_on_random_tokens(measured, site)
        for number, head in enumerate(names[place] for place in finite.tolist()):
            found[head] = table.describe(number, head, known.get(head))
    return found


def _jobs_on_random_tokens(measured: Measured, site: str) -> dict[HeadName, HeadJob]:
    """The surer of the jobs that were measured on random tokens."""
    found: dict[HeadName, HeadJob] = {}
    thresholds = {rule.metric: rule.threshold for rule in RULES}
    for name, values in measured.repeated.items():
        for head, value in zip(measured.names(site), values.tolist(), strict=True):
            if value >= thresholds.get(name, np.inf) and (head not in found or found[head].value < value):
                found[head] = HeadJob(name, value)
    return found


class _Describing(HeadTable):
    """Says what each head of a site does."""

    def describe(self, head: int, name: HeadName, job: HeadJob | None) -> HeadDescription:
        rest = self.number(self.metrics.index("rests"), head)
        cell = self._rule(head, is_asleep=rest.value >= ASLEEP)
        rule, unusual = self.number(cell, head), self._unusual(head)
        divergence, nats = float(self.divergence[head]), float(self.gains[cell, head])
        among_first = rule.rank <= max(1, FIRST_HEADS * self.heads)
        kind: Kind
        main: Number | None = rule
        if rest.value >= ASLEEP:
            is_told = rest.value < GONE and rule.value >= MOST and among_first and self.nats[cell, head] > 0
            kind = "leftover" if is_told else "too little"
        elif divergence < EVEN:
            kind, main = "spreads", self.number(self.metrics.index("fill"), head)
        elif self._is_for_sinks(head, rule.value * float(self.part[cell, head])):
            kind, main = "sinks", None
        elif rule.value >= LEAST and (nats >= WEAK * divergence or nats >= CLEAR or (among_first and nats >= FAINT)):
            kind = "rule"
        else:
            kind, main = self._no_rule(head, unusual)
        if kind == "mixed" and main is not None:
            rule = main
        more = tuple(islice(self._all_more(head, rest, main, kind, unusual), MORE))
        parts = [self.number(self.cells.index(name), head) for name in PARTS.get(rule.metric, ()) if name in self.cells]
        return HeadDescription(
            head=name,
            kind=kind,
            main=None if kind == "too little" else main,
            is_most=rule.value >= MOST,
            job=job,
            rest=rest,
            rest_on=self.rest_on,
            more=more,
            parts=tuple(sorted(parts, key=lambda part: -part.value)[:2]) if main is rule else (),
            favourites=self.favourites(head),
            sinks=self.sinks,
            on_sinks=float(self.on_sinks[:, 0, head].sum()),
            even_on_sinks=float(self.on_sinks[:, 1, head].sum()),
            unusual=tuple(number for number in unusual if self._from_an_end(number) <= 0.2)[:4],
            tells_sources=self.tells_sources,
            writes=self.writes,
            fill=self.number(self.metrics.index("fill"), head),
            by_distance=self.number(self.metrics.index("by distance"), head),
            same_keys=self.number(self.metrics.index("same keys"), head),
            texts=self.texts,
            rows=self.rows,
            short=self.short,
            long=self.long,
        )

    def _is_for_sinks(self, head: int, share: float) -> bool:
        """Whether sinks are an answer beside which such a share of all free weight is none."""
        on_sinks = float(self.on_sinks[:, 0, head].sum())
        return on_sinks >= SINK_ANSWER and on_sinks > 2 * share

    def _rule(self, head: int, *, is_asleep: bool) -> int:
        """The cell that tells most; a part that many heads have gives way to one of which few have as much."""
        gains = (self.nats if is_asleep else self.gains)[:, head]
        best = int(gains.argmax())
        ranks = (self.value[: len(self.cells)] > self.value[: len(self.cells), head, None]).sum(1) + 1
        if ranks[best] <= COMMON * self.heads or self.value[best, head] >= MOST:
            return best
        among_first = (ranks <= max(1, FIRST_HEADS * self.heads)) & (gains >= max(FAINT, gains[best] / 2))
        return int((gains * among_first).argmax()) if among_first.any() else best

    def _no_rule(self, head: int, unusual: list[Number]) -> tuple[Kind, Number | None]:
        """What is said of a head that no rule tells."""
        if self.on_sinks[:, 0, head].sum() >= SINK_ANSWER:
            return "sinks", None
        fill = self.number(self.metrics.index("fill"), head)
        if fill.value >= BROAD:
            return "spreads", fill
        if main := next((number for number in unusual if self._says_something(number, head)), None):
            return "unusual", main
        noticed = self.value[: len(self.cells), head] * self.part[:, head] >= NOTICED
        parts = (each for each in self._largest_parts(head) if noticed[self.cells.index(each.metric)])
        part = next((each for each in parts if each.value >= LEAST), None)
        return ("mixed", part) if part is not None else ("nothing", None)

    def _largest_parts(self, head: int) -> Iterator[Number]:
        """What a head gives more to than an even look would and the typical head does; first what few heads have."""
        of_cells = slice(0, len(self.cells))
        value, even, middle = self.value[of_cells, head], self.even[:, head], self.middle[of_cells]
        of_kinds, part = np.isin(self.cells, CELLS_OF_KINDS), self.part[:, head]
        # Of rare tokens, which many texts have.
        rare = of_kinds & (value >= np.maximum(LEAST, 2 * middle)) & (part >= LEAST)
        own = self.is_above[:, head] & (value >= ABOVE * middle) & ((value * part >= NOTICED) | rare)
        told = own & (self.parts_of_gain[:, head] >= A_PART)
        is_rare = (self.value[of_cells] > value[:, None]).sum(1) < COMMON * self.heads
        order = np.argsort(-gain(value, np.maximum(middle, even)), kind="stable").tolist()
        for usable in (told & is_rare, told & ~is_rare, own & ~told & of_kinds):
            yield from (self.number(cell, head) for cell in order if usable[cell])

    def _all_more(
        self, head: int, rest: Number, main: Number | None, kind: Kind, unusual: list[Number]
    ) -> Iterator[More]:
        """What more can be said of a head, the first first."""
        yield from self._of_rows(head, rest, main, kind)
        is_weak = kind == "rule" and main is not None and (self._is_common(main) or main.value < WEAK_SHARE)
        if kind not in ("leftover", "too little", "sinks", "rule") or is_weak:
            yield from self._own(head, unusual, main, kind)
        got, even = self.on_sinks.sum(0)[:, head].tolist()
        if NOTICED <= got < SINK_SHARE and got >= SINK / 2 * even and kind not in ("leftover", "too little"):
            yield More("sinks", share=got, usual=even)
        liked = {token for token, _times in self.favourites(head)} - set(self.sinks)
        if main is not None and kind != "rule" and liked:
            yield More("favourites")

    def _own(self, head: int, unusual: list[Number], main: Number | None, kind: Kind) -> Iterator[More]:
        """What sets a head apart that is like many others, or has no rule; nothing that was said is said again."""
        is_common = kind == "rule" and self._is_common(main)
        said = [] if main is None else [main]
        if (same := self.number(self.metrics.index("same keys"), head)).value >= MOST:
            said.append(same)
        parts: Iterator[Number] = (part for part in self._largest_parts(head) if part.is_sure)
        if kind == "spreads" and self.divergence[head] < NEARLY_EVEN:
            parts = iter(())
        clear = (number for number in unusual if number.is_sure and self._says_something(number, head, COMMON))
        if kind == "rule" and self.heads >= FEW_HEADS:
            rare = (each for each in parts if each.rank <= COMMON * self.heads or each.value >= 1.5 * each.middle)
            sorts: list[tuple[Literal["part", "unusual"], Iterator[Number]]] = [("unusual", chain(rare, clear))]
        else:
            sorts = [("part", parts), ("unusual", clear)]
        for word, numbers in sorts:
            for number in numbers:
                if all(self._is_new(number, other, is_common=is_common) for other in said):
                    said.append(number)
                    yield More(word, number=number)
                    break

    def _is_common(self, main: Number | None) -> bool:
        return main is not None and main.rank > COMMON * self.heads

    def _from_an_end(self, number: Number) -> float:
        """How far a number is from the highest or lowest of all heads, as a part of them."""
        return min(number.rank, number.heads + 1 - number.rank) / number.heads

    def _says_something(self, number: Number, head: int, most: float = 2 * FIRST_HEADS) -> bool:
        """Whether a head can be described by a number among such a part of the highest or lowest: never by what it
        looks at less than others.
        """
        is_high = number.value > number.middle
        if number.metric == "same keys" and is_high and number.value >= MOST:
            return True
        if self.heads < FEW_HEADS or self._from_an_end(number) > (
            most if number.even is not None else min(most, 3 * FIRST_HEADS)
        ):
            return False
        if number.even is not None:
            part = float(self.part[self.cells.index(number.metric), head])
            return is_high and number.low > ABOVE * number.even and number.value * part >= NOTICED
        if number.metric == "distance":
            return number.high < SHORT if number.value < number.middle else number.low > LONG
        return number.metric == "fill" or (number.metric in ("by distance", "same keys") and is_high)

    def _is_new(self, number: Number, said: Number, *, is_common: bool) -> bool:
        """Whether a number says what another one, or what that is made of, does not."""
        alike = abs(self.alike[self.metrics.index(number.metric), self.metrics.index(said.metric)]) >= ALIKE
        is_part = number.metric in PARTS.get(said.metric, ()) and said.value >= MOST
        is_part |= said.metric in PARTS.get(number.metric, ())
        return number.metric != said.metric and (is_common or not (alike or is_part))

    def _unusual(self, head: int) -> list[Number]:
        """The metrics in which a head is unusual, the most unusual first; none that says the same as one before."""
        off = (self.value[:, head] - self.middle) / self.spread
        is_cell = np.arange(len(self.metrics)) < len(self.cells)
        # What a head looks at less than others says half as much.
        weight = np.abs(off) * np.where(is_cell & (off < 0), 0.5, 1.0)
        is_clear = (self.low[:, head] > self.middle) | (self.high[:, head] < self.middle)
        usable = is_clear & np.append(self.counted, [True] * len(OTHERS))
        usable[self.metrics.index("rests")] = False
        usable[: len(self.cells)] &= ~self.only_sinks[:, head]
        kept: list[int] = []
        for metric in np.argsort(-weight, kind="stable").tolist():
            if usable[metric] and all(abs(self.alike[metric, other]) < ALIKE for other in kept):
                kept.append(metric)
        return [self.number(metric, head) for metric in kept]

    def _of_rows(self, head: int, rest: Number, main: Number | None, kind: Kind) -> Iterator[More]:
        """Where else it rests, and what rows of some tokens do that others do not."""
        got, even = self.on_sinks.sum(0)[:, head].tolist()
        if got >= SINK_SHARE and got >= SINK / 2 * even and kind not in ("too little", "sinks"):
            yield More("sinks", share=got, usual=even)
        if rest.value > 0.3 and (awake := self._awake_group(head) or self._awake(head, rest.value)) is not None:
            yield awake
        if kind in ("leftover", "too little"):
            return
        if (asks := self._asks(head, kind)) is not None:
            yield asks
        if kind == "rule" and main is not None and (fails := self._fails(main, head)) is not None:
            yield fails
        same, said = float(self.value[self.metrics.index("same keys"), head]), main.metric if main is not None else ""
        if same >= MOST and said not in ("same keys", "first", "second half"):
            yield More("columns", share=same)

    def _awake(self, head: int, rest: float) -> More | None:
        """The kind of rows in which a head rests far less than in any other."""
        sums, usual = self.sums, 1 - rest
        free = sums.free_by[head] / np.maximum(sums.rows_by, 1) * (sums.texts_by >= ROWS)
        query, next_query = int(free.argmax()), float(np.sort(free)[-2])
        least = max(min(1.5 * usual, usual + 0.25), usual + 0.2 - 0.1 * (rest >= IDLE))
        if free[query] <= max(least, next_query + AWAKE):
            return None
        return More("awake", KINDS[query], share=float(free[query]), usual=usual)

    def _asks(self, head: int, kind: Kind) -> More | None:
        """The kind of rows that attend to something far more than all rows do."""
        sums, is_even = self.sums, kind == "spreads"
        by, own = np.maximum(sums.weighed_by[head], 1e-9), self.value[: len(self.cells), head, None]
        share = sums.weight_by[head] / by
        expected = np.maximum(own, sums.even_by[head] / by)
        enough = (sums.rows_with_by >= ROWS / 2) & (sums.texts_by >= ROWS / 4)
        enough &= share > expected + (AWAKE if is_even else 0.15)
        nats = gain(share, expected) * enough * sums.weighed_by[head] / max(float(sums.free[:, head].sum()), 1e-9)
        cell, query = (int(each) for each in np.unravel_index(nats.argmax(), nats.shape))
        if nats[cell, query] <= (0.003 if is_even else max(0.1 * self.divergence[head], 0.02)):
            return None
        return More("asks", KINDS[query], self.cells[cell], float(share[cell, query]), float(own[cell, 0]))

    def _fails(self, rule: Number, head: int) -> More | None:
        """The most rows of a kind that follow a rule, or its largest part, far less than all rows do."""
        sums = self.sums
        parts = sorted(PARTS.get(rule.metric, ()), key=lambda name: -self.value[self.cells.index(name), head])
        for name in (rule.metric, *parts[:1]):
            cell = self.cells.index(name)
            own = float(self.value[cell, head])
            groups = [(kind, [KINDS.index(kind)]) for kind in KINDS]
            groups.append(("function", [KINDS.index(kind) for kind in FUNCTION_KINDS]))
            found = []
            for kind, at in groups:
                weighed = float(sums.weighed_by[head, cell, at].sum())
                share = float(sums.weight_by[head, cell, at].sum()) / max(weighed, 1e-9)
                rows, texts = sums.rows_with_by[cell, at].sum(), sums.texts_by[at].max()
                if rows >= ROWS and texts >= ROWS / 2 and share < own - APART:
                    found.append((weighed * (own - share), kind, share))
            if found:
                _missed, kind, share = max(found)
                return More("fails", kind, name, share, own)
        return None

    def _awake_group(self, head: int) -> More | None:
        """Whether a head rests far less in rows of function words than of content words, or the other way round."""
        rows, free, groups = self.sums.rows_by, self.sums.free_by[head], (FUNCTION_KINDS, ("content words",))
        numbers = [[KINDS.index(kind) for kind in group] for group in groups]
        if min(rows[group].sum() for group in numbers) < ROWS:
            return None
        function, content = (float(free[group].sum() / rows[group].sum()) for group in numbers)
        if abs(function - content) < APART:
            return None
        if function > content:
            return More("awake", "function", "content words", function, content)
        return More("awake", "content words", "function", content, function)

    def favourites(self, head: int) -> tuple[tuple[str, float], ...]:
        """Tokens that a head gives far more than an even look would, in most texts, whoever asks."""
        sums = self.sums
        got, even = sums.of_tokens[:, 0, head], sums.of_tokens[:, 1, head]
        times = got / np.maximum(even, 1e-9)
        steady = sums.above_in[:, head] >= FAVOURITE_STEADY * sums.texts_of_tokens
        weighty = got >= FAVOURITE_SHARE * max(float(sums.free[:, head].sum()), 1e-9)
        liked = np.flatnonzero((times >= FAVOURITE) & steady & weighty)
        order = liked[np.argsort(-times[liked], kind="stable")][:3]
        return tuple((sums.tokens[number], float(times[number])) for number in order)
