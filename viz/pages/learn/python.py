"""The Python that gives what the page Learn shows."""

from typing import TYPE_CHECKING, Final

from viz.access import models, traces
from viz.pages.learn.explore import part as explore
from viz.pages.learn.explore.forcing import asked_reference
from viz.pages.learn.lessons import tab as lessons
from viz.pages.learn.transformer import data, walk
from viz.pages.learn.transformer.walk_payload import Told, WalkState, lacks_scores
from viz.selection import state
from viz.text.messages import said
from viz.ui.snippets import Snippet, Views, line, of_text

if TYPE_CHECKING:
    from model import Reader, Trace


def _trace() -> "Trace":
    """What the chosen model did with the text."""
    selection = state.current()
    reader = models.text_reader(selection.model)
    return traces.trace(reader, selection.common.text)


def _lessons() -> Snippet:
    """What is explored below the step; a picture of the step itself has its Python where its link leads."""
    if topic := lessons.explored():
        return explore.python(topic, _trace())
    return said(
        "Each picture in a lesson has a link to the page with the full view; that page also has the Python code."
    )


def _the_transformer() -> Snippet:
    """All weights, as a change leaves them; the path of the token that is followed, or the row that is open."""
    learn, model = state.current().learn, state.current().model
    reader, trace = models.reader(model), _trace()
    if not trace.sites:
        return ""
    place = walk.place_in(trace, reader)
    if learn.depth == "model":
        imports, changed = _change(trace, reader, place)
        run = "changed.trace" if changed else "trace"
        layers = f"[{run}.weights(site, layer) for layer in range({run}.layers_of(site))]"
        weights = f"weights = {{site: {layers} for site in {run}.sites}}  # [head, query, key]"
        return of_text(trace, imports, *changed, weights)
    if learn.depth != "layer":
        if lacks_scores(reader):
            return ""
        chosen = state.current().common
        template = "row = derive_row(trace.attention({}, {}), head={}, row={}, scaled={}, masked={})"
        at = place.site, place.layer, place.head, place.row
        derived = line(template, *at, chosen.scaled, chosen.masked)
        of_key = line("products, weight = row.products[{0}], row.weights[{0}]", place.key)
        return of_text(trace, {"analysis.metrics.derived_row": "derive_row"}, derived, of_key)
    if data.why_not(reader):
        return ""
    parts = "parts = [[(part.kind, part.share) for part in layer] for layer in path.layers]"
    path = line("path = follow(reader, trace, {}, {})", place.stack, place.row)
    return of_text(trace, {"analysis.residual_stream.token_path": "follow"}, path, parts)


def _change(trace: "Trace", reader: "Reader", place: WalkState) -> tuple[dict[str, str], list[str]]:
    """Imports and lines of what is changed in the picture: how far every stream moves, and the other run's trace."""
    if not place.edit or Told.of(trace, reader, place).changes is None:
        return {}, []
    streams = "analysis.residual_stream.streams"
    if place.edit == "forced" and data.may_be_forced(reader, trace):
        reference = asked_reference(reader, trace)
        if isinstance(reference, str):
            other = line("reader.trace({}, {})", trace.text, reference)
        else:
            other = line("reader.trace_tokens({}, {})", trace.text, list(reference.token_ids))
        return {streams: "moved_to, streams"}, [f"changed = moved_to(reader, {other}, streams(reader, trace))"]
    edit = data.edit_of(*place.changed)
    imports = {streams: "moved_by, streams", "nn.edits": type(edit).__name__}
    return imports, [line("changed = moved_by(reader, trace, {}, streams(reader, trace))", edit)]


VIEWS: Final[Views] = {"Lessons": _lessons, "The Transformer": _the_transformer}
