"""Make one file of pinned views that opens offline: a head, all heads, a step of the film, or two sentences compared.

Each has its caption and the query that reopens it. Nothing here is part of a page run: the file is made when a person
asks for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

import numpy as np
from markupsafe import Markup

from model.errors import HeadlightError
from viz.access import attention, findings, models, texts, traces
from viz.access.attention import MatrixView
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData
from viz.pictures.offline import Drawing, drawn_grid, drawn_matrix, text_page
from viz.selection.examples import ALL_EXAMPLES
from viz.selection.selection import PAGES, Selection
from viz.server import limits
from viz.text.html import Column, table
from viz.text.messages import _, said
from viz.text.templates import filled
from viz.text.written import CROSS, DECODER, ENCODER, NAMES, display_token, head_label, head_name, head_numbers
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.trace.steps import DecodingStep
    from viz.selection.url import Pin
#: A site as a title begins with it, and in full within a sentence.
_BEGINS = {
    ENCODER: said("Encoder self-attention"), DECODER: said("Decoder self-attention"), CROSS: said("Cross-attention"),
}  # fmt: skip
_WITHIN = {
    ENCODER: said("encoder self-attention"), DECODER: said("decoder self-attention"),
    CROSS: said("decoder cross-attention"),
}  # fmt: skip
#: Candidates of a step that are listed, and characters of a sentence that are shown.
_CANDIDATES, _LONGEST_TEXT = 5, 300
_STYLE: Final = Path(__file__).with_name("collection.css").read_text(encoding="utf-8")


class Picture(NamedTuple):
    """A part of what is seen of a view: components, HTML, or a sentence."""

    title: str
    drawing: Drawing | Markup | str


class _Shown(NamedTuple):
    """A view as `page.html` shows it."""

    title: str
    text: str
    parts: list[tuple[str, Markup | str | int]]  #: a name, and HTML, a sentence, or the number of a drawing
    caption: str
    address: str


class Seen(NamedTuple):
    """What is seen small of a view, below its title and its sentence."""

    title: str
    text: str = ""
    pictures: tuple[Picture, ...] = ()


def page_file(views: "Sequence[tuple[Pin, Selection]]") -> bytes:
    """The file, in the language of this code. Each selection is its pin's, with the folder of its model."""
    drawings: list[Drawing] = []
    with limits.limited():
        page = filled("ui/collection/page.html", views=[_shown(pin, selection, drawings) for pin, selection in views])
    return text_page(_("Headlight: a collection of views"), page, _STYLE, drawings).encode("utf-8")


def _shown(pin: "Pin", selection: Selection, drawings: list[Drawing]) -> _Shown:
    """A view; its drawings join the others."""
    try:
        found = seen(pin, selection)
    except HeadlightError as error:
        found = Seen(pin.title, pictures=(Picture("", error.message),))
    parts: list[tuple[str, Markup | str | int]] = []
    for name, drawing in found.pictures:
        own_name = "" if name == found.title else name
        parts.append((own_name, len(drawings) if isinstance(drawing, Drawing) else drawing))
        drawings += [drawing] if isinstance(drawing, Drawing) else []
    text = " ".join(found.text.split())[:_LONGEST_TEXT]
    address = f"/{PAGES[pin.page].address}?{urlencode(pin.params)}"
    return _Shown(found.title, text, parts, pin.caption, address)


def seen(pin: "Pin", selection: Selection) -> Seen:
    """What is seen small of a view, if anything. Raises a HeadlightError if its model or text will not do."""
    tab = selection.value(PAGES[pin.page].tab)
    drawn = (pin.page, tab) in (("attention", "All heads"), ("decoding", "Film"), ("coreference", "Side by side"))
    # What a person made of the translation is written anew on the page itself.
    if not drawn or (pin.page == "decoding" and selection.decoding.branch):
        return Seen(pin.title, selection.common.text)
    reader = models.text_reader(selection.model)
    if pin.page == "coreference":
        return _pair(reader, selection)
    if pin.page == "decoding" and reader.abilities.kind == "decoder":
        return _step(traces.written(models.writer(selection.model), selection.common.text), selection)
    trace = traces.trace(reader, selection.common.text)
    if pin.page == "decoding":
        return _step(trace, selection)
    if selection.common.head_chosen:
        head = _head(trace, reader, selection)
        return Seen(head.title, trace.text, (head,))
    return _grid(trace, selection)


def _pair(reader: "Reader", selection: Selection) -> Seen:
    """One head on two sentences: in the second, the row of the word in the place of the first's."""
    first, second = (traces.trace(reader, text) for text in _compared(selection))
    common, other = selection.for_model(first.shapes).common, selection.coreference.other_token
    if other is None and common.token is not None and common.token < len(first.axis_tokens(common.site)[0]):
        other = texts.row_beside(first, second, common.site, common.token)
    heads = [_head(first, reader, selection), _head(second, reader, selection.changed(token=other, key_token=None))]
    pictures = tuple(Picture(trace.text, head.drawing) for trace, head in zip((first, second), heads, strict=True))
    return Seen(_("Comparison: {head}", head=heads[0].title), "", pictures)


def _compared(selection: Selection) -> tuple[str, str]:
    """The sentences of the pair that is chosen, or one's own."""
    name, text = selection.coreference.pair, selection.common.text
    if name and (pair := texts.curated_pair(name, models.languages(selection.model)[0])) is not None:
        return pair
    twin = next((example.twin for example in ALL_EXAMPLES if example.text == text), text)
    return text, selection.common.other_text or twin


def _head(trace: "Trace", reader: "Reader", selection: Selection) -> Picture:
    common = selection.for_model(trace.shapes).common
    label = _("{site}, {head}", site=_BEGINS[common.site], head=head_label(common.layer, common.head))
    if attention.is_long(trace, common.site):
        return Picture(label, _("The text is too long for a small picture: open the view."))
    opened = attention.opened_layer(trace, reader, common.site, common.layer, MatrixView.of(common))
    values = opened.values[min(common.head, len(opened.values) - 1)]
    top = float(values.max(initial=0.0)) if common.measure == "norms" else 1.0
    row = None if common.token is None else opened.queries.index_of(common.token)
    column = None if common.key_token is None else opened.keys.index_of(common.key_token)
    data = MatrixData(
        values=np.asarray(values, np.float32),
        row_tokens=opened.queries.labels,
        column_tokens=opened.keys.labels,
        scale=ColourScale.root(MEASURES[common.measure].number, top or 1.0),
        title=label,
        label=label,
        row_name=_("query"),
        column_name=_("key"),
        rows_write=trace.rows_write(common.site),
        file_name=head_name(common.site, common.layer, common.head),
    )
    return Picture(label, drawn_matrix(data, Kept(row, column)))


def _grid(trace: "Trace", selection: Selection) -> Seen:
    found = findings.finding(trace, selection.model)
    name = _("All heads of the {site}", site=NAMES[found.site].phrase)
    if attention.is_long(trace, found.site):
        return Seen(name, trace.text)
    weights = attention.all_weights(trace, found.site)
    rows, keys = trace.row_names(found.site), trace.axis_names(found.site)[1]
    return Seen(name, trace.text, (Picture(name, drawn_grid(weights, rows, keys, name, (found.layer, found.head))),))


def _step(trace: "Trace", selection: Selection) -> Seen:
    """A step of the film, and its row in every head of a layer."""
    if not trace.steps:
        return Seen(_("{page}: {tab}", page=PAGES["decoding"].title, tab=_("Film")), trace.text)
    number = min(selection.common.step, len(trace.steps) - 1)
    name = _("Film, step {number} of {count}", number=number + 1, count=len(trace.steps))
    pictures = [Picture(name, _words(trace.steps[: number + 1], name))]
    site = CROSS if CROSS in trace.shapes else next(iter(trace.shapes))
    if not attention.is_long(trace, site):
        layer = min(selection.common.layer, trace.layers_of(site) - 1)
        rows = trace.weights(site, layer, rows=[trace.rows_before + number])[:, 0].numpy()
        of_rows = _("The row of this step in every head of layer {layer}, {site}", layer=layer + 1, site=_WITHIN[site])
        data = MatrixData(
            values=rows,
            row_tokens=head_numbers(len(rows)),
            column_tokens=trace.axis_names(site)[1],
            scale=ColourScale.root(_("weight"), 1.0),
            title=of_rows,
            label=of_rows,
            row_name=_("head"),
            column_name=_("key"),
            file_name=f"rows L{layer + 1}",
        )
        pictures.append(Picture(of_rows, drawn_matrix(data, Kept())))
    return Seen(name, trace.text, tuple(pictures))


def _words(steps: "Sequence[DecodingStep]", name: str) -> Markup:
    """What is written by then, and the candidates of the last step with their probabilities."""
    *before, last = [display_token(step.token) for step in steps]
    columns = [Column(_("Candidate")), Column(_("Probability"), is_number=True)]
    best = steps[-1].candidates[:_CANDIDATES]
    rows = [(display_token(each.token), f"{np.exp(each.log_prob):.4f}") for each in best]
    candidates = Markup(table(columns, rows, label=name))
    return filled("ui/collection/step.html", before=before, last=last, candidates=candidates)
