"""Which traces a gallery shows: what ships, or the texts and the models that a person gives."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from jaxtyping import Float

from model import SwitchOff, later
from model.errors import HeadlightError
from viz.access import attention, blocks, findings, models, traces
from viz.access.findings import Finding
from viz.access.given_files import FILES
from viz.gallery import drawings, reasons, training
from viz.pages.attention.why.drawn import NOT_PROVEN
from viz.pages.decoding.film.data import film
from viz.pages.experiments.through_training.data import FILE
from viz.pages.learn.transformer import walk_file
from viz.pictures.offline import Drawing
from viz.selection import catalogue
from viz.selection.choices import ModelChoice
from viz.selection.examples import EXAMPLES, examples_in
from viz.text import written
from viz.text.messages import Message, _, said, shown

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Writer


class Section(NamedTuple):
    """A part of a page."""

    heading: str  #: "" for none
    drawing: Drawing
    notes: Sequence[str] = ()  #: below it, a paragraph each


_TRANSLATOR: Final = said("The translator included with Headlight")
_FAILING: Final = said("Where the translator fails")
_SMALL: Final = said("Small translators that differ in one part")
_OTHERS: Final = said("Other models, and a training run")
_OWN: Final = said("Your models")
_NEWS: Final = said("The model was not trained on such sentences: the film shows how unsure each step is.")
_SMALL_NOTE: Final = said("All small translators were trained for 2,000 steps on the same batches.")
_INDUCTION: Final = said(
    "Letters that repeat: the heads of layer 2 find where a letter occurred before, and copy the next."
)
_TRAINING: Final = said("Each frame shows the same model at a different step of its training.")
_SWITCHED_OFF: Final = said("The head that links “it” to its noun is switched off: what is written now?")
_KEPT: Final = said(
    "This page contains only the answers along the largest shares, at most four steps back. Other bars, cells and "
    "twins need the app."
)

#: Of the examples, those with something to see in one sentence, by their numbers.
_EXAMPLES: Final = (1, 2, 9, 4, 5, 6, 8)
_HARD: Final = (
    "The committee postponed the vote on the amendment until after the summer recess.",
    "Colorless green ideas sleep furiously.",
    "The spirit is willing, but the flesh is weak.",
)
_PRESETS: Final = (
    "full", "single-head", "sixteen-heads", "no-positions", "unscaled", "no-residual", "gru", "convolutional",
)  # fmt: skip
_CAPTION: Final = "Two dogs are playing in the snow."
_LETTERS: Final = "xqzbjkfvw xqzb"
_FEW: Final = 8


@dataclass(frozen=True)
class Exhibit:
    """A page of the gallery."""

    group: Message  #: under which the start page lists it
    choice: ModelChoice | None  #: the model; None of a training
    #: text, written: what was read and what was written.
    text: str
    written: str
    note: str  #: what to see
    weights: Float[np.ndarray, "query key"]  #: of the open head, for the card
    #: makes what the page draws, in the language of this code.
    sections: Callable[[], Iterable[Section]] = field(repr=False)
    #: trace, found: of a trace, itself and its head that is most worth seeing.
    trace: "Trace | None" = None
    found: Finding | None = None

    @property
    def run(self) -> "tuple[Trace, ModelChoice, Finding] | None":
        """What ran, what ran it, and what is most worth seeing; None of a training."""
        if self.trace is None or self.choice is None or self.found is None:
            return None
        return self.trace, self.choice, self.found

    @property
    def label(self) -> str:
        """What the model is called, in the language of this code."""
        if self.choice is None:
            return _("Full model, from scratch")
        return Path(self.choice.folder).name or catalogue.label(models.name_of(self.choice))


def shipped() -> Iterator[Exhibit]:
    """What ships with Headlight; the first two are the sentence of the story and its twin."""
    choice, classic = ModelChoice(models.name_of(ModelChoice())), EXAMPLES[0]
    reader = models.reader(choice)
    first = _exhibit(_TRANSLATOR, choice, traces.trace(reader, classic.text), classic.look_for)
    yield first
    yield _exhibit(_TRANSLATOR, choice, traces.trace(reader, classic.twin), classic.look_for)
    assert first.found is not None
    off = SwitchOff(first.found.site, first.found.layer, first.found.head)
    yield _exhibit(_TRANSLATOR, choice, reader.trace(classic.text, edits=[off]), _SWITCHED_OFF)
    for example in (EXAMPLES[number] for number in _EXAMPLES):
        yield _exhibit(_TRANSLATOR, choice, traces.trace(reader, example.text), example.look_for)
    for text in _HARD:
        yield _exhibit(_FAILING, choice, traces.trace(reader, text), _NEWS)
    for preset in _PRESETS:
        if (name := f"{catalogue.EXPERIMENTS}/{preset}") in catalogue.server_models():
            small = ModelChoice(name)
            yield _exhibit(_SMALL, small, traces.trace(models.reader(small), _CAPTION), _SMALL_NOTE)
    if "induction" in catalogue.server_models():
        yield from own("induction", [_LETTERS], _OTHERS, _INDUCTION)
    if (path := catalogue.experiments_root() / FILE).is_file():
        yield _training(path)


def own(model: str | Path, texts: Sequence[str] = (), group: Message = _OWN, note: str = "") -> list[Exhibit]:
    """Texts, or the first examples in the language that it reads, through a model of the catalogue or in a folder.

    Raises a HeadlightError if there is no such model, or it cannot read a text. The note of an example is its own. A
    model of pictures or sounds reads the example that ships, whatever the texts.
    """
    choice = ModelChoice(model) if isinstance(model, str) else ModelChoice(folder=os.path.realpath(model))
    given = dict.fromkeys(texts, note) or {
        example.text: example.look_for for example in (examples_in(models.languages(choice)[0]) or EXAMPLES)[:2]
    }
    reader = models.text_reader(choice)
    if (of_file := FILES.get(reader.abilities.reads)) is not None:
        given = {"": note or of_file.to_see}

    def read(text: str) -> "Trace":
        is_decoder = reader.abilities.kind == "decoder"
        return _written(models.writer(choice), text) if is_decoder else traces.trace(reader, text)

    return [_exhibit(group, choice, read(text), seen) for text, seen in given.items()]


def _written(writer: "Writer", text: str) -> "Trace":
    """What a decoder writes after a text, as long as a walk of it can be kept, or a few tokens more."""
    session = writer.decode(text, extras=traces.extras(writer, text))
    most = max(walk_file.MOST_TOKENS, len(session.target_ids) + _FEW)
    while not session.finished and len(session.target_ids) < most:
        session.step()
    return traces.written_trace(session)


def _exhibit(group: Message, choice: ModelChoice, trace: "Trace", note: str) -> Exhibit:
    found = findings.finding(trace, choice)

    def sections() -> Iterator[Section]:
        yield Section("", drawings.source_of(trace, choice, found) or drawings.words_of(trace, choice, found))
        for site in sorted(trace.sites, key=lambda site: site != found.site):
            is_found = site == found.site
            query = found.link.row if is_found and found.link is not None else None
            yield Section(written.label(site), drawings.heads_of(trace, site, _opened(trace, site, found), query))
            if is_found and trace.steps:
                yield Section(
                    _("Film"),
                    drawings.film_of(film(trace, models.writer(choice)), trace.text, drawings.step_of(trace, found)),
                )
            if is_found:
                yield _why(trace, choice)

    of_head = trace.weights(found.site, found.layer, heads=[found.head]).numpy()
    weights = blocks.together(trace, found.site, of_head)[0]
    return Exhibit(group, choice, trace.text, trace.translation, note, weights, sections, trace, found)


def _why(trace: "Trace", choice: ModelChoice) -> Section:
    """The question most worth asking, with the answers along its largest shares; or why there is none."""
    reader = models.text_reader(choice)
    try:
        drawing = reasons.why_of(reader, trace, reasons.asked_of(reader, trace))
    except HeadlightError as error:
        return Section(_("Why"), Drawing([], 1, ""), [shown(error.message)])
    return Section(_("Why"), drawing, [_(_KEPT), shown(NOT_PROVEN)])


def _opened(trace: "Trace", site: str, found: Finding) -> tuple[int, int]:
    """The head of a site that is surest of its job; the finding where that is its site."""
    if site == found.site:
        return found.layer, found.head
    surest = later.head_jobs.surest_head({site: attention.head_metrics(trace, site)})
    return (0, 0) if surest is None else (surest.layer, surest.head)


def _training(path: Path) -> Exhibit:
    _drawing, text, weights = training.training_of(path)

    def sections() -> Iterator[Section]:
        drawing, *_known = training.training_of(path)
        yield Section("", drawing)

    return Exhibit(_OTHERS, None, text, "", _TRAINING, weights, sections)
