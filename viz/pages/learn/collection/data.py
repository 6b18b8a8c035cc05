"""Compute what is seen small of a pinned view: a head, all heads, a step of the film, or two sentences compared."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from model import Reader, Trace
from model.analysis.coreference.case_files import curated_cases, set_language
from viz.access import attention, findings, models, texts, traces
from viz.access.attention import MatrixView
from viz.pages.learn.collection.drawing import Heads, Matrix, Seen, Step
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData
from viz.selection.examples import ALL_EXAMPLES
from viz.selection.selection import PAGES
from viz.selection.url import Pin
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said
from viz.text.written import CROSS, DECODER, ENCODER, NAMES, head_label, head_name, head_numbers
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from viz.selection.selection import Selection
#: A site as a title begins with it, and in full within a sentence; all is said in a job, which has no language.
_BEGINS = {
    ENCODER: said("Encoder self-attention"), DECODER: said("Decoder self-attention"), CROSS: said("Cross-attention"),
}  # fmt: skip
_WITHIN = {
    ENCODER: said("encoder self-attention"), DECODER: said("decoder self-attention"),
    CROSS: said("decoder cross-attention"),
}  # fmt: skip
#: Candidates of a step that are listed.
_CANDIDATES = 5


def task(pin: Pin, selection: "Selection") -> Task[Seen]:
    """What computes the picture of a view; `selection` is the view's, with the folder of its model."""
    return Task(
        ("pin", pin.page, pin.params, selection.model),
        0,
        said("tokens"),
        lambda progress: seen(pin, selection, progress),
    )


def title(pin: Pin, selection: "Selection") -> str:
    """What a view is called before it is drawn."""
    tab = str(selection.value(PAGES[pin.page].tab))
    return said("{page}: {tab}", page=PAGES[pin.page].title, tab=said(tab))


def seen(pin: Pin, selection: "Selection", progress: Progress | None = None) -> Seen:
    """What is seen small of a view, if anything. Raises a HeadlightError if its model or text will not do."""
    tab = selection.value(PAGES[pin.page].tab)
    drawn = (pin.page, tab) in (("attention", "All heads"), ("decoding", "Film"), ("coreference", "Side by side"))
    if not drawn:
        return Seen(title(pin, selection), selection.common.text, ())
    reader = models.text_reader(selection.model)
    reached = traces.no_progress if progress is None else progress.reached
    if pin.page == "coreference":
        compared = [traces.trace(reader, text, "", reached) for text in _compared(selection)]
        heads = [_head(one, reader, of) for one, of in zip(compared, _of_each(compared, selection), strict=True)]
        pair = tuple(replace(head, title=one.text) for head, one in zip(heads, compared, strict=True))
        return Seen(said("Compared: {head}", head=heads[0].title), "", pair)
    if pin.page == "decoding" and selection.decoding.branch:
        # What a person made of the translation is written anew on the page itself.
        return Seen(title(pin, selection), selection.common.text, ())
    if pin.page == "decoding" and reader.abilities.kind == "decoder":
        return _step(traces.written(models.writer(selection.model), selection.common.text, reached), selection)
    trace = traces.trace(reader, selection.common.text, "", reached)
    if pin.page == "decoding":
        return _step(trace, selection)
    if selection.common.head_chosen:
        matrix = _head(trace, reader, selection)
        return Seen(matrix.title, trace.text, (matrix,))
    return _grid(trace, reader, selection)


def _compared(selection: "Selection") -> tuple[str, str]:
    """The sentences of the pair that is chosen, or one's own."""
    name, text = selection.coreference.pair, selection.common.text
    if name:
        cases = curated_cases(set_language(models.languages(selection.model)[0])).cases
        of_pair = [case.sentence for case in cases if case.pair == name]
        if len(of_pair) == 2:
            return of_pair[0], of_pair[1]
    twin = next((example.twin for example in ALL_EXAMPLES if example.text == text), text)
    return text, selection.coreference.other_text or twin


def _of_each(compared: "list[Trace]", selection: "Selection") -> "tuple[Selection, Selection]":
    """The selection for each of two sentences: in the second the row of the word in the place of the first's."""
    first, second = compared
    common, other = selection.for_model(first.shapes).common, selection.coreference.other_token
    if other is None and common.token is not None and common.token < len(first.axis_tokens(common.site)[0]):
        other = texts.row_beside(first, second, common.site, common.token)
    return selection, selection.changed(token=other, key_token=None)


def _head(trace: Trace, reader: Reader, selection: "Selection") -> Matrix:
    fitted = selection.for_model(trace.shapes)
    common = fitted.common
    label = said("{site}, {head}", site=_BEGINS[common.site], head=head_label(common.layer, common.head))
    if attention.is_long(trace, common.site):
        return Matrix(label, None)
    opened = attention.opened_layer(trace, reader, common.site, common.layer, MatrixView.of(common))
    values = opened.values[min(common.head, len(opened.values) - 1)]
    top = float(values.max(initial=0.0)) if common.measure == "norms" else 1.0
    token, key = common.token, common.key_token
    row = None if token is None else opened.queries.index_of(token)
    column = None if key is None else opened.keys.index_of(key)
    data = MatrixData(
        values=np.asarray(values, np.float32),
        row_tokens=opened.queries.labels,
        column_tokens=opened.keys.labels,
        scale=ColourScale.root(MEASURES[common.measure].number, top or 1.0),
        title=label,
        label=label,
        row_name=said("query"),
        column_name=said("key"),
        rows_write=trace.rows_write(common.site),
        file_name=head_name(common.site, common.layer, common.head),
    )
    return Matrix(label, data, Kept(row, column))


def _grid(trace: Trace, reader: Reader, selection: "Selection") -> Seen:
    found = findings.finding(trace, selection.model)
    name = said("All heads of the {site}", site=NAMES[found.site].phrase)
    if attention.is_long(trace, found.site):
        return Seen(name, trace.text, ())
    weights = attention.all_weights(trace, found.site)
    rows, keys = trace.row_names(found.site), trace.axis_names(found.site)[1]
    return Seen(name, trace.text, (Heads(name, weights, rows, keys, (found.layer, found.head)),))


def _step(trace: Trace, selection: "Selection") -> Seen:
    if not trace.steps:
        return Seen(said("{page}: {tab}", page=PAGES["decoding"].title, tab=said("Film")), trace.text, ())
    number = min(selection.common.step, len(trace.steps) - 1)
    step = trace.steps[number]
    candidates = tuple((each.token, float(np.exp(each.log_prob))) for each in step.candidates[:_CANDIDATES])
    written = tuple(each.token for each in trace.steps[: number + 1])
    name = said("Film, step {number} of {count}", number=number + 1, count=len(trace.steps))
    pictures: tuple[Step | Matrix, ...] = (Step(name, written, candidates),)
    site = CROSS if CROSS in trace.shapes else next(iter(trace.shapes))
    if not attention.is_long(trace, site):
        layer = min(selection.common.layer, trace.layers_of(site) - 1)
        rows = trace.weights(site, layer, rows=[trace.rows_before + number])[:, 0].numpy()
        name_of_rows = said("Its row in every head of layer {layer}, {site}", layer=layer + 1, site=_WITHIN[site])
        data = MatrixData(
            values=rows,
            row_tokens=head_numbers(len(rows)),
            column_tokens=trace.axis_names(site)[1],
            scale=ColourScale.root(said("weight"), 1.0),
            title=name_of_rows,
            label=name_of_rows,
            row_name=said("head"),
            column_name=said("key"),
            file_name=f"rows layer{layer}",
        )
        pictures = (*pictures, Matrix(name_of_rows, data))
    return Seen(name, trace.text, pictures)
