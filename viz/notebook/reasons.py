"""Why a head looks where it looks, in a notebook: a question that the kernel answers step by step, and a file of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model.errors import HeadlightError, TraceError
from viz.gallery import reasons
from viz.notebook.pictures import Picture, checked_text
from viz.pages.attention import data
from viz.pages.attention.data import Asked
from viz.pages.attention.why import picture as trail_picture
from viz.pages.attention.why.drawn import COMPONENT, Drawn, testable, with_tests
from viz.pages.attention.why.payload import Codes, Page, Twin
from viz.pictures import payload, still
from viz.pictures.offline import Drawing, Part
from viz.pictures.payload import hear
from viz.server.background_jobs import Progress
from viz.text.messages import _, in_a_row, shown
from viz.text.written import display_token, display_tokens

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.score import Question
    from model.analysis.reasons.without import Measured, Outcome
    from model.reader import Reader


def why(trace: "Trace", reader: "Reader", cell: "Question | None" = None, *, twin: str | None = None) -> Picture:
    """Why a head looks at one key and not at another: what the score is made of, and by a click, what that read.

    While a kernel runs it answers every click, and runs the model for *Test it*; a saved file has the answers along the
    largest shares. Raises a ValueError if the trace is another model's or has no such cell, and a TraceError, in one
    sentence, if its score cannot be split.

    Args:
        trace: of a text, without edits.
        reader: the model that it is of.
        cell: a `Question` of `model.analysis.reasons.score`; by default the cell most worth asking about.
        twin: a text that differs in a word: then the change from it is split. By default the twin that is known of an
            example; "" for none.
    """
    if trace.reader_key != reader.key:
        raise ValueError("Expected the model that the trace is of, got another: give the one that made the trace.")
    text = None if twin is None else checked_text("twin", twin).strip()
    if cell is None:
        asked = reasons.asked_of(reader, trace, None, text)
    else:
        _check(trace, cell)
        asked = reasons.asked_of(reader, trace, (cell.site, cell.layer, cell.head, cell.row, cell.key), text)
        asked = replace(asked, rival=cell.rival)
    live = Answering(reader, trace, asked)
    return Picture(live.drawing(), _still(live.page(), live.picture()), live)


def _check(trace: "Trace", cell: "Question") -> None:
    if cell.site not in trace.sites or cell.layer not in range(trace.layers_of(cell.site)):
        raise ValueError(f"There is no layer {cell.layer} of {cell.site!r} in this trace.")
    heads, rows, keys = trace.inputs[cell.site][cell.layer].shape
    limits = {"head": (cell.head, heads), "row": (cell.row, rows), "key": (cell.key, keys), "rival": (cell.rival, keys)}
    for name, (value, count) in limits.items():
        if value not in range(count):
            raise ValueError(f"There is no {name} {value}: expected one from 0 to {count - 1}.")


@dataclass(frozen=True, slots=True)
class _Step:
    """A question, how far a person has followed its answer, and what they have tested of it."""

    asked: Asked
    trail: data.Codes = ()
    found: "Mapping[data.Codes, Outcome]" = field(default_factory=dict)
    #: what the model gives with nothing taken out of the text, and of the twin.
    intact: "tuple[Measured | None, Measured | None]" = (None, None)


class Answering:
    """What a kernel answers of a question."""

    def __init__(self, reader: "Reader", trace: "Trace", asked: Asked) -> None:
        """The question. Raises a TraceError if the score cannot be split."""
        self.reader, self.trace, self._step = reader, trace, _Step(asked)
        self._shown = self._answer()

    def page(self) -> Page:
        """What is shown now."""
        return self._shown[0]

    def picture(self) -> trail_picture.Picture:
        """The trail to what is shown, as one picture."""
        return self._shown[1]

    def _answer(self) -> tuple[Page, trail_picture.Picture]:
        step = self._step
        trail = data.trail(self.reader, self.trace, step.asked, step.trail)
        if trail.refused is not None:
            raise TraceError(trail.refused)
        ahead = data.ahead(self.reader, self.trace, step.asked, trail.codes)
        there = data.twin_trace(self.reader, self.trace, step.asked.twin) if step.asked.twin else None
        drawn = Drawn(self.trace, there, step.asked, trail, ahead)
        page = drawn.page()
        products = data.products(self.reader, self.trace, step.asked, testable(page))
        page = replace(with_tests(page, products, step.found, step.intact), runs=True)
        return page, trail_picture.draw(drawn.names, there, ahead, trail.codes, step.found)

    def drawing(self) -> Drawing:
        """The same as a picture, whose every question takes the kernel."""
        page, picture = (payload.pack(each) for each in self._shown)
        parts = [Part(COMPONENT, page), Part(trail_picture.COMPONENT, picture)]
        return Drawing(parts, 1, reasons.alt_of(self.trace))

    def kept(self) -> Drawing:
        """The question for a file, with the answers along its largest shares."""
        return reasons.why_of(self.reader, self.trace, self._step.asked)

    def hear(self, name: str, value: object) -> str:
        """Take what a person asks in the browser; "", or the sentence that says why it cannot be answered."""
        before = self._step
        takes = {
            "trail": hear(self._go, Codes),
            "rival": hear(lambda key: self._ask(replace(before.asked, rival=key)), int, key=data.positions(self.trace)),
            "twin": hear(lambda told: self._ask(replace(before.asked, twin=told.of(self.trace.text))), Twin),
            "test": hear(self._test, Codes),
        }
        try:
            if name in takes:
                takes[name](value)
            if self._step is not before:
                self._shown = self._answer()
        except BaseException as error:
            # What was interrupted has changed nothing either.
            self._step = before
            if not isinstance(error, HeadlightError):
                raise
            return shown(error.message)
        return ""

    def _ask(self, asked: Asked) -> None:
        self._step = _Step(asked)

    def _go(self, told: Codes) -> None:
        self._step = replace(self._step, trail=told.trail)

    def _test(self, told: Codes) -> None:
        """Run the model without what these codes name."""
        step, test = self._step, tuple(told.codes.split("."))
        if test not in step.found:
            task = data.test(self.reader, self.trace, step.asked, test)
            tested, (text, twin) = task.compute(Progress(task.total, task.unit)), step.intact
            intact = (text, tested.intact) if tested.of_twin else (tested.intact, twin)
            self._step = replace(step, found={**step.found, test: tested.outcome}, intact=intact)


def _still(page: Page, picture: trail_picture.Picture) -> str:
    """The question with its first bar chosen, as it is drawn before anybody points, and its trail."""
    chosen = next(group for group in page.groups if group.is_main).rows[0]
    read = {(tint.line, tint.token): tint.share for tint in chosen.tints}
    lines = [
        (line.mark, [(token, read.get((at, number), 0.0)) for number, token in enumerate(display_tokens(line.tokens))])
        for at, line in enumerate(page.lines)
    ]
    bars = [(group.title, [(row.name, row.share) for row in group.rows[: group.shown]]) for group in page.groups]
    title = _("Why {key} and not {rival}?", key=display_token(page.key), rival=display_token(page.rival))
    steps = [(step.name, step.share, [(each.name, each.share) for each in step.others]) for step in picture.steps]
    caption = _("Read down from “{word}”: each step was computed from the one below it.", word=picture.word)
    trail = (_("The whole trail"), in_a_row([caption, picture.caption]), steps)
    return still.shares(title, [page.where, page.because], lines, bars, trail)
