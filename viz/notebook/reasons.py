"""Why a head looks where it looks, in a notebook: a question that the kernel answers step by step, and a file of it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from model.errors import HeadlightError, TraceError
from viz.gallery import reasons
from viz.notebook.pictures import Picture, checked_text
from viz.pages.attention import data
from viz.pages.attention.data import Asked
from viz.pages.attention.why.drawn import COMPONENT, Drawn, testable, with_tests
from viz.pages.attention.why.payload import Codes, Page, Twin
from viz.pictures import payload, still
from viz.pictures.offline import Drawing, Part
from viz.pictures.payload import hear
from viz.text.messages import _, shown
from viz.text.written import display_token, display_tokens

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.score import Question
    from model.reader import Reader


def why(trace: "Trace", reader: "Reader", cell: "Question | None" = None, *, twin: str | None = None) -> Picture:
    """Why a head looks at one key and not at another: what the score is made of, and by a click, what that read.

    While a kernel runs it answers every click; a saved file has the answers along the largest shares. Raises a
    ValueError if the trace is another model's or has no such cell, and a TraceError, in one sentence, if its score
    cannot be split.

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
    return Picture(live.drawing(), _still(live.page()), live)


def _check(trace: "Trace", cell: "Question") -> None:
    if cell.site not in trace.sites or cell.layer not in range(trace.layers_of(cell.site)):
        raise ValueError(f"There is no layer {cell.layer} of {cell.site!r} in this trace.")
    heads, rows, keys = trace.inputs[cell.site][cell.layer].shape
    limits = {"head": (cell.head, heads), "row": (cell.row, rows), "key": (cell.key, keys), "rival": (cell.rival, keys)}
    for name, (value, count) in limits.items():
        if value not in range(count):
            raise ValueError(f"There is no {name} {value}: expected one from 0 to {count - 1}.")


class Answering:
    """A question, and how far a person has followed its answer."""

    def __init__(self, reader: "Reader", trace: "Trace", asked: Asked) -> None:
        self.reader, self.trace = reader, trace
        self._asked, self._trail = asked, tuple[str, ...]()

    def page(self) -> Page:
        """What is shown now. Raises a TraceError if the score cannot be split, or there is no such step."""
        trail = data.trail(self.reader, self.trace, self._asked, self._trail)
        if trail.refused is not None:
            raise TraceError(trail.refused)
        ahead = data.ahead(self.reader, self.trace, self._asked, trail.codes)
        twin = self._asked.twin
        there = data.twin_trace(self.reader, self.trace, twin) if twin else None
        page = Drawn(self.trace, there, self._asked, trail, ahead).page()
        return with_tests(page, data.products(self.reader, self.trace, self._asked, testable(page)), {}, ())

    def drawing(self) -> Drawing:
        """The same as a picture, whose every question takes the kernel."""
        return Drawing([Part(COMPONENT, payload.pack(self.page()))], 1, reasons.alt_of(self.trace))

    def kept(self) -> Drawing:
        """The question for a file, with the answers along its largest shares."""
        return reasons.why_of(self.reader, self.trace, self._asked)

    def hear(self, name: str, value: object) -> str:
        """Take what a person asks in the browser; "", or the sentence that says why it cannot be answered."""
        before = self._asked, self._trail
        takes = {
            "trail": hear(lambda told: self._ask(self._asked, told.trail), Codes),
            "rival": hear(lambda key: self._ask(replace(self._asked, rival=key)), int, key=range(data.MOST_TOKENS)),
            "twin": hear(lambda told: self._ask(replace(self._asked, twin=told.of(self.trace.text))), Twin),
        }
        try:
            if name in takes:
                takes[name](value)
            self.page()
        except HeadlightError as error:
            self._asked, self._trail = before
            return shown(error.message)
        return ""

    def _ask(self, asked: Asked, trail: tuple[str, ...] = ()) -> None:
        self._asked, self._trail = asked, trail


def _still(page: Page) -> str:
    """The question with its first bar chosen, as it is drawn before anybody points."""
    chosen = next(group for group in page.groups if group.is_main).rows[0]
    read = {(tint.line, tint.token): tint.share for tint in chosen.tints}
    lines = [
        (line.mark, [(token, read.get((at, number), 0.0)) for number, token in enumerate(display_tokens(line.tokens))])
        for at, line in enumerate(page.lines)
    ]
    bars = [(group.title, [(row.name, row.share) for row in group.rows[: group.shown]]) for group in page.groups]
    title = _("Why {key} and not {rival}?", key=display_token(page.key), rival=display_token(page.rival))
    return still.shares(title, [page.where, page.because], lines, bars)
