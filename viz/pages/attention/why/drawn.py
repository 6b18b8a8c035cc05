"""What the tab Why shows of a step of a trail, in words and numbers: a `Page`, with or without a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import TYPE_CHECKING, Final

from model.errors import Message
from viz.pages.attention import data
from viz.pages.attention.why.names import Names, place_of, spoken_words, words_of
from viz.pages.attention.why.payload import Crumb, Gauge, Group, Line, Page, Rival, Row, Run, Test, Tint
from viz.pictures.component import Component
from viz.text import written
from viz.text.messages import _, in_a_row, plural, said, shown, with_commas
from viz.text.written import ENCODER, NAMES, head_label, scientific, signed, spoken

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.held_run import Part
    from model.analysis.reasons.score import Reason
    from model.analysis.reasons.trail import Bar, Level, Read, Trail
    from model.analysis.reasons.without import Measured, Outcome, Product
    from model.parts.weights import Stack

COMPONENT: Final = Component("pages/attention/why/why.js", "pages/attention/why/why.css")
#: So many bars are shown; more while the rest would exceed the smallest of them.
SHOWN: Final = 6
#: A smaller change between text and twin is none.
NO_CHANGE: Final = 0.005
#: So many keys are offered as rivals.
RIVALS: Final = 12
NOT_PROVEN: Final = said(
    "Limits of this explanation: a share is exact as long as layer norms, attention weights and gates are held "
    "fixed; it does not say what would happen without the part. A sentence and its twin are only one case. And a "
    "score does not decide the word alone: other heads and layers contribute, too."
)
#: Why there is nothing to take out, by the kind of a part.
_REFUSED: Final = {
    "bias": said("Biases are learned and the same in every text, so nothing can replace them."),
    "token_type": said("This is the same for every token of the text, so nothing can replace it."),
    "reading": said("This is a difference between the two texts, so it cannot be removed from one of them."),
    "distance": said("The distance between query and key is the same, whatever words are there."),
    "words": said("These words are only in the twin, so nothing can be taken out of the text."),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A step of a trail as the page shows it."""

    trace: "Trace"
    there: "Trace | None"
    asked: data.Asked
    trail: "Trail"
    ahead: "Trail"

    @property
    def level(self) -> "Level":
        """The step that is shown."""
        return self.trail.levels[-1]

    @property
    def names(self) -> Names:
        """What its steps are called."""
        return Names(self.trace, self.reason.question)

    @property
    def reason(self) -> "Reason":
        """The answer to the question."""
        return self.trail.reason

    def page(self) -> Page:
        """All of it."""
        question, names = self.reason.question, self.names
        weights = self.trace.weights(question.site, question.layer, [question.head], [question.row])[0, 0].tolist()
        offered = data.most_read(self.trace, question, weights, RIVALS)
        return Page(
            key=names.key(question.key),
            rival=names.key(question.rival),
            rival_key=question.rival,
            rivals=[Rival(at, names.key(at), weights[at]) for at in offered if at != question.key],
            asked="" if self.level.kind == "question" else names.level(self.level),
            total=self._total,
            where=self._where(),
            because=self._because(),
            crumbs=[self._crumb(level) for level in self.ahead.levels],
            exact=_("exact to {error}", error=scientific(self.reason.error)),
            is_exact=self.reason.is_exact,
            lines=self._lines(),
            gauges=self._gauges(weights),
            twin=self.asked.twin,
            text=self.trace.text if self.trace.source.has_words else "",
            groups=self._groups(),
            note=self._note(),
            scores=[each for each in (self.reason.here, self.reason.there) if each is not None],
            how=self._how(),
        )

    @property
    def _total(self) -> float:
        return self.reason.total if self.level.kind == "question" else self.level.total

    def _crumb(self, level: "Level") -> Crumb:
        is_first = level.kind == "question"
        total, is_ahead = (self.reason.total if is_first else level.total), len(level.trail) > len(self.level.trail)
        return Crumb(self.names.level(level), total, _joined(level.trail), is_ahead)

    def _where(self) -> str:
        if self.level.kind != "question":
            return self._step_said()
        question, reason = self.reason.question, self.reason
        values = {
            "head": _("{site} {head}", site=NAMES[question.site].label, head=head_label(question.layer, question.head)),
            "word": self.names.row(),
            "key": self.names.key(question.key),
            "rival": self.names.key(question.rival),
            "score": written.decimal(reason.here),
            "times": _times(reason.here),
        }
        first = self._here_said(values)
        if reason.there is None:
            return first
        there = {**values, "times": _times(abs(reason.there)), "score": written.decimal(abs(reason.there))}
        if reason.there < 0:
            message = "In the twin, “{rival}” has {times} times the weight of “{key}” (e to the power of {score})."
        else:
            message = "In the twin, “{key}” has {times} times the weight of “{rival}” (e to the power of {score})."
        return in_a_row([first, _(message, **there)])

    def _here_said(self, values: Mapping[str, str]) -> str:
        if self.trace.rows_write(self.asked.site):
            message = (
                "{head} gives “{key}” {times} times the weight of “{rival}” (e to the power of {score}) when “{word}” "
                "is written."
            )
            return _(message, **values)
        message = "{head} gives “{key}” {times} times the weight of “{rival}” (e to the power of {score}) at “{word}”."
        return _(message, **values)

    def _step_said(self) -> str:
        """What the step asks, and of how much it is a part."""
        before = self.trail.levels[-2]
        name, before_it = self.names.level(self.level), self.names.level(before)
        values = {"name": name, "share": signed(self.level.total), "before": before_it}
        total = self.reason.total if before.kind == "question" else before.total
        if self.level.kind == "word":
            message = "Of the total of {total}, {before} read {share} at {name}. Which parts wrote what it read there?"
            return _(message, **values, total=signed(total))
        return _("Of the total of {total} at {before}, {share} comes from {name}.", **values, total=signed(total))

    def _because(self) -> str:
        level = self.level
        if level.kind == "beginning":
            return _("The trail ends here: this is the word itself, before any layer has read another word.")
        if level.kind == "question" and self.reason.there is not None and abs(self.reason.total) < NO_CHANGE:
            return _(
                "The text and its twin do not differ here, so there is no change to explain. Choose another row or "
                "twin."
            )
        towards = (bar for bar in level.words or level.parts if bar.share * level.total > 0)
        named = next(filter(_is_named, towards), None)
        if named is None:
            return ""
        values = {"share": signed(named.share), "total": signed(level.total), "name": self.names.bar(level, named)}
        if data.is_cancelling(level.cancelling):
            message = (
                "The parts partly cancel here: their absolute values add up to {factor:.1f} times their sum. So no "
                "part can be called a fraction of the sum."
            )
            return _(message, factor=level.cancelling)
        if level.kind == "question":
            return self._because_of_sides(values)
        before = self.trail.levels[-2]
        if level.words and before.kind == "word":
            return _(
                "Because {before} had read {name}, which contributes {share} of {total}.",
                **values,
                before=self.names.level(before),
            )
        if level.words:
            return _("Because it read {name}, which contributes {share} of {total}.", **values)
        return _("Because of what {name} wrote, which contributes {share} of {total}.", **values)

    def _because_of_sides(self, values: Mapping[str, str]) -> str:
        if self.reason.there is None:
            return _("Of the listed parts, {name} contributes most: {share} of {total}.", **values)
        side = {"of_side": signed(self.level.total), "change": signed(self.reason.total)}
        if self.trail.side == "q":
            message = (
                "Because of the query: it accounts for {of_side} of the change of {change}, and {name} wrote {share} "
                "of that."
            )
            return _(message, **values, **side)
        message = (
            "Because of the keys: they account for {of_side} of the change of {change}, and {name} wrote {share} of "
            "that."
        )
        return _(message, **values, **side)

    def _note(self) -> str:
        question = self.reason.question
        towards = {"key": self.names.key(question.key), "rival": self.names.key(question.rival)}
        if self.reason.there is None:
            message = (
                "Shares add up to the natural logarithm of the ratio of the two weights. Next to the text are the "
                "weights of both keys. Warm colours favour “{key}”, cold ones “{rival}”."
            )
            return _(message, **towards)
        message = (
            "Shares add up to the natural logarithm of the ratio of the two weights. The number below a word is its "
            "share in its own sentence; a bar shows the difference between the two sentences. Next to each sentence "
            "are the weights of both keys. Warm colours favour “{key}”, cold ones “{rival}”."
        )
        return _(message, **towards)

    def _how(self) -> str:
        if self.reason.there is None:
            return _(
                "A part is removed by replacing it with its mean over the text. ◇ shows how much the score then falls "
                "if only one product and its layer norm are recomputed; ● shows how much it falls if everything above "
                "the part runs again."
            )
        return _(
            "A part is removed by replacing it with what the twin has in its place; a word of the twin is replaced, "
            "in the twin's run, with what the text has there. ◇ shows how much the score then falls if only one "
            "product and its layer norm are recomputed; ● shows how much it falls if everything above the part runs "
            "again."
        )

    # ---- sentences ----

    @property
    def _sides(self) -> "list[tuple[Trace, int]]":
        """Text and twin, each with the row that is asked about."""
        sides = [(self.trace, self.reason.question.row)]
        if self.there is not None and self.reason.twin is not None:
            sides.append((self.there, self.reason.twin.row))
        return sides

    def _stacks(self) -> "list[Stack]":
        stacks: tuple[Stack, ...] = ("encoder", "decoder")
        return [stack for stack in stacks if words_of(self.trace, stack)]

    def _lines(self) -> list[Line]:
        lines = []
        site, stacks = self.asked.site, self._stacks()
        for side, (trace, row) in enumerate(self._sides):
            other = self.trace if side else self.there
            unlike = data.unlike(trace, other) if other is not None else {}
            for number, stack in enumerate(stacks):
                is_asked = stack == ("encoder" if site == ENCODER else "decoder")
                writes = is_asked and trace.rows_write(site)
                last = row + 1 if is_asked and stack == "decoder" else None
                caption = trace.source.caption
                mark = "" if number else _("TWIN") if side else _(caption[0]) if caption else _("TEXT")
                names = words_of(trace, stack)
                lines.append(
                    Line(
                        mark,
                        spoken_words(trace, stack)[:last],
                        _begin_words(names[:last]),
                        unlike.get(stack, ()),
                        place_of(trace, stack, row) if is_asked and not writes else None,
                        self.names.row() if writes and not side else "",
                    )
                )
        return lines

    def _gauges(self, weights: Sequence[float]) -> list[Gauge]:
        question = self.reason.question
        gauges = [Gauge(weights[question.key], weights[question.rival])]
        if self.there is not None and (twin := self.reason.twin) is not None:
            row = self.there.weights(twin.site, twin.layer, [twin.head], [twin.row])[0, 0]
            gauges.append(Gauge(float(row[twin.key]), float(row[twin.rival])))
        return gauges

    # ---- bars ----

    def _groups(self) -> list[Group]:
        level, groups = self.level, []
        if level.kind == "question":
            groups.append(self._side_group())
        if level.words:
            words, count = [self._word_row(bar) for bar in level.words], _count_shown(level.words)
            rest = self._rest(level.words, words, count)
            groups.append(Group(_("Positions read"), words, count, is_main=True, rest=rest))
        if level.parts:
            is_heads = bool(level.words)
            rows = [self._part_row(bar, with_heads=not is_heads) for bar in level.parts]
            count = len(rows) if is_heads else _count_shown(level.parts)
            rest = self._rest(level.parts, rows, count)
            groups.append(Group(self._title(), rows, count, is_main=not is_heads, rest=rest))
        return groups

    def _rest(self, bars: "Sequence[Bar]", rows: Sequence[Row], first: int) -> Row | None:
        """The bars that are not shown, as one; its test takes out all of them that can be."""
        if first >= len(rows):
            return None
        name = plural("the other {count:,}", "the other {count:,}", len(rows) - first)
        both = [*zip(bars, rows, strict=True)][first:]
        stays = [row.name for bar, row in both if not self.level.can_take(bar)]
        told = _("Not removed, because nothing can replace it: {names}.", names=with_commas(stays)) if stays else ""
        test = _joined((*self.level.trail, f"r{first}")) if len(stays) < len(both) else ""
        tints = [tint for _bar, row in both for tint in row.tints]
        share = sum(bar.share for bar, _row in both)
        return Row(name, share, "", test, "" if test else told, tints, stays=told if test else "")

    def _title(self) -> str:
        level = self.level
        if level.words:
            return _("Heads of this sub-layer")
        if level.kind == "question":
            return _("Parts that wrote the query") if self.trail.side == "q" else _("Parts that wrote the keys")
        return (
            _("Parts that wrote this")
            if level.kind == "word"
            else _("What was read there, split by the parts that wrote it")
        )

    def _side_group(self) -> Group:
        reason, side = self.reason, self.trail.side
        named = [(_("query"), reason.query.total, "q"), (_("keys"), reason.keys.total, "k")]
        rows = [Row(name, total, code, code, is_chosen=code == side) for name, total, code in named]
        if reason.there is None:
            return Group(_("The same score, split by the parts of the query or of the keys"), rows, 2, is_main=False)
        if reason.distance:
            rows.append(Row(_("distance between query and key"), reason.distance, "", "", _REFUSED["distance"]))
        return Group(_("Query or keys?"), rows, len(rows), is_main=False)

    def _part_row(self, bar: "Bar", *, with_heads: bool) -> Row:
        heads = [self._part_row(head, with_heads=False) for head in self.level.heads(bar)] if with_heads else ()
        is_tinted = bar.part is not None and (with_heads or self.level.words) and bar.part in self._tinted()
        read = self.level.read_by(bar) if is_tinted else None
        tints = [] if read is None else self._tints(read, bar.trail)
        return Row(self.names.bar(self.level, bar), bar.share, _joined(bar.trail), *self._test(bar), tints, heads)

    def _tinted(self) -> "set[Part | None]":
        return {bar.part for bar in self.level.parts[: max(SHOWN, _count_shown(self.level.parts))]}

    def _word_row(self, bar: "Bar") -> Row:
        tints: list[Tint] = []
        if (read := self.level.read) is not None and bar.position is not None:
            tints = [tint for tint in self._tints(read, self.level.trail) if tint.trail == _joined(bar.trail)]
        return Row(self.names.bar(self.level, bar), bar.share, _joined(bar.trail), *self._test(bar), tints)

    def _test(self, bar: "Bar") -> tuple[str, str]:
        """The codes that test a bar, and else why it cannot be tested."""
        code = "" if bar.part is None else data.code_of(bar.part)
        if bar.trail or code:
            return _joined(bar.trail or (*self.level.trail, code)), ""
        return "", _REFUSED["words" if bar.part is None else bar.part.kind]

    def _tints(self, read: "Read", trail: Sequence[str]) -> list[Tint]:
        """What was read at each word of both texts; the words of the twin lead where their partners do."""
        stacks = self._stacks()
        line = stacks.index(read.stack)
        partners = data.partners(self.trace, self.there)[read.stack] if self.there is not None else ()
        ours = {there: here for here, there in enumerate(partners)}
        tints = []
        for places, share in read.here.items():
            code = _joined((*trail, data.code_of_words(read.stack, places)))
            tints.append(Tint(line, place_of(self.trace, read.stack, places.start), share, code, code))
        for (at, *_others), share in read.there.items():
            here = ours.get(at)
            own = "" if here is None else _joined((*trail, data.code_of_words(read.stack, range(here, here + 1))))
            # The difference takes the twin's off: in its own sentence a share has its own sign.
            test = _joined((*trail, data.code_of_words(read.stack, range(at, at + 1)).upper()))
            tints.append(Tint(line + len(stacks), at, -share, own, test))
        return tints


def testable(page: Page) -> list[data.Codes]:
    """What can be tested of a page: the bars that are seen at first, the words that they read, and then the others."""
    groups = [row for shown in (True, False) for group in page.groups for row in _rows(group, shown)]
    rests = [group.rest for group in page.groups if group.rest is not None]
    rows = [*groups, *(head for row in groups for head in row.heads), *rests]
    codes = (code for row in rows for code in (row.test, *(tint.test for tint in row.tints)))
    return [tuple(code.split(".")) for code in dict.fromkeys(codes) if code]


def _rows(group: Group, shown: bool) -> Sequence[Row]:
    return group.rows[: group.shown] if shown else group.rows[group.shown :]


def with_tests(
    page: Page,
    products: "Mapping[data.Codes, Product | Message]",
    outcomes: "Mapping[data.Codes, Outcome]",
    intact: "Sequence[Measured | None]",
) -> Page:
    """A page with what is left without its bars and words, as far as it is known."""
    tests = {
        _joined(codes): Test(refused=shown(found))
        if isinstance(found, Message)
        else Test("", found.predicted, found.by_product)
        for codes, found in products.items()
    }
    for codes, outcome in outcomes.items():
        tests[_joined(codes)] = Test("", outcome.predicted, outcome.by_product, _run(outcome.by_run))
    known = [each for each in intact if each is not None and each.log_odds is not None]
    pair = tuple(map(spoken, known[0].pair)) if known else ()
    runs = [None if each is None else _run(each) for each in intact]
    return replace(page, tests=tests, intact=runs, pair=pair)


def _run(measured: "Measured") -> Run:
    return Run(measured.score, measured.key_weight, measured.rival_weight, measured.log_odds, measured.text)


def _is_named(bar: "Bar") -> bool:
    """Whether a bar is what a layer computes or a text has; the last step has no further one to its layers."""
    return bool(bar.trail) or (bar.part is not None and bar.part.layer is not None)


def _begin_words(names: Sequence[str]) -> list[bool]:
    """Whether each token begins a word: where tokens do not say it by a sign, each but what BERT's continue."""
    if any(name.startswith(("▁", "Ġ")) for name in names):
        return [name.startswith(("▁", "Ġ", "<")) for name in names]
    return [not name.startswith("##") for name in names]


def _joined(trail: Sequence[str]) -> str:
    return ".".join(trail)


def _count_shown(bars: "Sequence[Bar]") -> int:
    """Six, or more while the sum of the others would exceed the smallest that is shown; a rest of one is a bar."""
    count = SHOWN
    while count < len(bars) and abs(sum(bar.share for bar in bars[count:])) > abs(bars[count - 1].share):
        count += 1
    return len(bars) if len(bars) <= count + 1 else count


def _times(score: float) -> str:
    times = exp(min(score, 40.0))
    return f"{times:,.0f}" if times >= 10 else f"{times:.2f}"
