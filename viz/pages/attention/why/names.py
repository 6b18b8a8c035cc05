"""Name what a trail goes through, as sentences, bars and the picture of the tab Why do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.text import written
from viz.text.messages import _, shown
from viz.text.parts import part_name, site_of
from viz.text.written import NAMES, head_label, spoken

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.held_run import Part
    from model.analysis.reasons.score import Question
    from model.analysis.reasons.trail import Bar, Level
    from model.parts.weights import Stack


@dataclass(frozen=True, slots=True)
class Names:
    """Names of what answers a question about a text."""

    trace: "Trace"
    question: "Question"

    def level(self, level: "Level") -> str:
        """A step: the head that is asked about, a sub-layer, a head or a word."""
        if level.kind == "question":
            return head_label(self.question.layer, self.question.head, self.question.site)
        if level.position is not None and level.stack is not None:
            return f"“{self.word(level.stack, level.position)}”"
        return "" if level.part is None else in_its_stack(level.part)

    def bar(self, level: "Level", bar: "Bar") -> str:
        """A bar of a step."""
        if bar.part is not None:
            return in_its_stack(bar.part)
        if bar.position is None or level.read is None:
            return _("words only in the twin")
        return f"“{self.word(level.read.stack, bar.position)}”"

    def word(self, stack: "Stack", position: int) -> str:
        """A position of a stack as a sentence names it: by the token that is read there, or a sound's span of time."""
        return spoken_words(self.trace, stack)[place_of(self.trace, stack, position)]

    def key(self, position: int) -> str:
        """A key of the question's attention, as a sentence names it."""
        return spoken(self.trace.axis_names(self.question.site)[1][position])

    def row(self) -> str:
        """The row as a sentence names it: by what it writes, else by what it reads."""
        site = self.question.site
        name = self.trace.row_names(site)[self.question.row]
        _before, word, _after = written.row_parts(name, writes=self.trace.rows_write(site))
        return spoken(word.rpartition("→")[2].strip() or word)


def words_of(trace: "Trace", stack: "Stack") -> Sequence[str]:
    """The tokens at the positions of a stack, as people read them; of a sound the spans of time."""
    return trace.target_tokens if stack == "decoder" else [*map(shown, trace.source.span_names())]


def spoken_words(trace: "Trace", stack: "Stack") -> Sequence[str]:
    """`words_of` as sentences name them."""
    words = words_of(trace, stack)
    return words if stack == "encoder" and trace.source.span_choices else [*map(spoken, words)]


def place_of(trace: "Trace", stack: "Stack", position: int) -> int:
    """Which of `words_of` a position belongs to."""
    if stack == "decoder":
        return position
    return next(place for place, positions in enumerate(trace.source.spans()) if position in positions)


def in_its_stack(part: "Part") -> str:
    """A part by its stack and layer, for a trail goes through several stacks."""
    site = site_of(part)
    if site is None or part.layer is None:
        return shown(part_name(part))
    if part.head is not None:
        return head_label(part.layer, part.head, site)
    return _("{site} {head}", site=NAMES[site].short, head=f"L{part.layer + 1}")
