"""Draw a trail as one picture: how much each step gave to the step before it, and what else went into each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from viz import theme
from viz.pages.attention import data
from viz.pages.attention.why.names import Names
from viz.pages.attention.why.payload import Codes
from viz.pictures.component import Component
from viz.pictures.payload import Text, Token, hear
from viz.text.messages import _
from viz.text.written import decimal, file_name

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.trail import Bar, Level, Trail
    from model.analysis.reasons.without import Outcome

COMPONENT: Final = Component("pages/attention/why/trail_picture.js", "pages/attention/why/trail_picture.css")
#: Of what else went into a step so many are named, if they are so much of it; the others are one sum.
NAMED: Final = 2
LEAST: Final = 0.02
#: A smaller sum of others is not drawn.
LEAST_REST: Final = 0.005

#: The codes of a step → what is left without it, of those that were tested.
Tested = Mapping[tuple[str, ...], "Outcome"]


@dataclass(frozen=True, slots=True)
class Other:
    """What else went into a step."""

    name: Text
    share: float
    trail: str | None  #: that asks why of it; None where it cannot be asked
    tested: Text  #: the score before and without it; "" if it was not tested
    joins: int | None  #: the step of the picture that is the same word


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """A step."""

    name: Text
    twin: Text  #: what the twin has in its place; "" for the same
    share: float  #: of the step before it; of the first, the whole
    trail: str
    tested: Text
    is_here: bool  #: whether it is the step that the page shows
    is_ahead: bool  #: not asked yet: what gives most from there on
    others: Sequence[Other]


@dataclass(frozen=True, slots=True)
class Picture:
    """A trail, from the word that is written to the words that decided it."""

    title: Text
    caption: Text
    word: Text  #: what the row writes, or else reads
    writes: bool
    steps: Sequence[DrawnStep]  #: none where all of it is zero: then nothing is drawn
    key: Token
    rival: Token
    file: str  #: the name of a saved picture
    warm: str = theme.ORANGE
    cold: str = theme.SKY


def show(picture: Picture, go: Callable[[Codes], object]) -> None:
    """The picture, if there is one; `go` is called with the codes of a step that a person chose in it."""
    if picture.steps:
        COMPONENT.show(picture, key="why-picture", trail=hear(go, Codes))


def draw(names: Names, there: "Trace | None", ahead: "Trail", asked: Sequence[str], tested: Tested) -> Picture:
    """The picture of a trail that goes on by the largest shares after the steps that were asked."""
    picture = _Drawing(names, there, ahead, len(asked), tested).picture()
    shares = [share for step in picture.steps for share in (step.share, *(other.share for other in step.others))]
    return replace(picture, steps=()) if all(abs(share) < LEAST_REST for share in shares) else picture


@dataclass(frozen=True, slots=True)
class _Drawing:
    names: Names
    there: "Trace | None"  #: the twin
    trail: "Trail"
    asked: int  #: codes that were asked
    tested: Tested

    def picture(self) -> Picture:
        names, question = self.names, self.trail.reason.question
        key, rival = names.key(question.key), names.key(question.rival)
        levels = self._levels()
        head, word = names.level(levels[0]), names.row()
        values = {"key": key, "rival": rival, "head": head, "word": word}
        title = (
            _("Why does {head} attend to “{key}” and not to “{rival}” when “{word}” is written?", **values)
            if names.trace.rows_write(question.site)
            else _("Why does {head} at “{word}” attend to “{key}” and not to “{rival}”?", **values)
        )
        return Picture(
            title=title,
            caption=self._caption(levels),
            word=word,
            writes=names.trace.rows_write(question.site),
            steps=[self._step(levels, at) for at in range(len(levels))],
            key=key,
            rival=rival,
            file=file_name("why", head, word, key, rival, sentence=names.trace.text),
        )

    def _levels(self) -> "list[Level]":
        """The steps that are drawn: a word that nobody asked about stands for its own beginning."""
        return [level for level in self.trail.levels if level.kind != "beginning" or len(level.trail) <= self.asked]

    def _caption(self, levels: "Sequence[Level]") -> str:
        if len(levels[-1].trail) <= self.asked:
            return ""
        if not self.asked:
            return _("No question has been asked yet: the trail follows the largest share at each step.")
        here = next(level for level in levels if len(level.trail) >= self.asked)
        return _("From {name} on, the trail follows the largest share at each step.", name=self.names.level(here))

    def _step(self, levels: "Sequence[Level]", at: int) -> DrawnStep:
        level = levels[at]
        total = self.trail.reason.total if level.kind == "question" else level.total
        return DrawnStep(
            name=self.names.level(level),
            twin=self._twin(level),
            share=total,
            trail=".".join(level.trail),
            tested=self._tested(level.trail),
            is_here=len(level.trail) == self.asked,
            is_ahead=len(level.trail) > self.asked,
            others=self._others(levels, at, total),
        )

    def _twin(self, level: "Level") -> str:
        if self.there is None or level.stack is None or level.position is None:
            return ""
        theirs = data.partners(self.names.trace, self.there)[level.stack][level.position]
        word = "" if theirs < 0 else Names(self.there, self.names.question).word(level.stack, theirs)
        return "" if word == self.names.word(level.stack, level.position) else word

    def _tested(self, trail: tuple[str, ...]) -> str:
        outcome = self.tested.get(trail)
        if outcome is None:
            return ""
        return f"{decimal(self.trail.reason.here)} → {decimal(outcome.by_run.score)}"

    def _others(self, levels: "Sequence[Level]", at: int, total: float) -> list[Other]:
        level, after = levels[at], levels[at + 1 :]
        found = [*self._other_side(level)]
        for bar in level.words or level.parts:
            name, share, trail = self.names.bar(level, bar), bar.share, ".".join(bar.trail) or None
            if after and bar.trail == after[0].trail:
                continue
            if after and _is_head_of(after[0], bar):
                found.append(Other(_("other heads of {name}", name=name), share - after[0].total, trail, "", None))
                continue
            joins = next((number for number, each in enumerate(after, at + 1) if _is_word(level, bar, each)), None)
            found.append(Other(name, share, trail, self._tested(tuple(bar.trail)), joins))
        found = [other for other in found if abs(other.share) >= LEAST * abs(total)]
        found.sort(key=lambda other: (other.joins is None, -abs(other.share)))
        named = found if len(found) <= NAMED + 1 else found[:NAMED]
        rest = total - sum(other.share for other in named) - (after[0].total if after else 0.0)
        if abs(rest) >= LEAST_REST:
            named.append(Other(_("the rest"), rest, None, "", None))
        return named

    def _other_side(self, level: "Level") -> list[Other]:
        """With a twin, what the side of the score gives that is not followed."""
        reason = self.trail.reason
        if level.kind != "question" or reason.there is None:
            return []
        if self.trail.side == "q":
            return [Other(_("keys"), reason.keys.total, "k", self._tested(("k",)), None)]
        return [Other(_("query"), reason.query.total, "q", self._tested(("q",)), None)]


def _is_head_of(level: "Level", bar: "Bar") -> bool:
    return level.part is not None and bar.part == level.part._replace(head=None)


def _is_word(level: "Level", bar: "Bar", later: "Level") -> bool:
    """Whether a bar is the word of a later step."""
    stack = None if level.read is None else level.read.stack
    return bar.position is not None and (stack, bar.position) == (later.stack, later.position)
