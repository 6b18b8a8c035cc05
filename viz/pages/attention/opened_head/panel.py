"""One head, opened: as a heatmap, as lines together with others, by bertviz, or over the picture that is read."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.pages.attention.opened_head import bertviz_page, captions, picture_panel, sound_panel
from viz.pages.attention.opened_head.lines_component import LinesData, LinesView, head_lines
from viz.pictures import focus
from viz.pictures.matrix_picture.component import (
    NO_PREVIEW,
    ColourScale,
    Kept,
    MatrixData,
    Preview,
    PreviewSides,
    matrix_picture,
)
from viz.pictures.offline import Part
from viz.pictures.tiles.codes import Source, tile_server
from viz.selection import state
from viz.selection.choices import Common, DrawnAs
from viz.text import written
from viz.text.messages import _, said, shown
from viz.text.written import file_name, head_name
from viz.ui import controls, finding, frame, head_metrics, present, terms, token_labels, what_it_does
from viz.ui.head_metrics import MEASURES, Measure

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.trace.axes import Axis

#: Positions of the kept query and key.
Cell = tuple[int | None, int | None]
Opened = attention.OpenedLayer | attention.LongHead


class SourcePanel(NamedTuple):
    """What is shown of a source that is no text; nothing of any other source."""

    show: Callable[["Trace", str], None]  #: the open head of a site over it
    #: offer: as files; part: the head of a cross-attention over it with this row kept, where there is no server.
    offer: Callable[["Trace"], None] = lambda trace: None
    part: Callable[["Trace", "Reader", Common, int | None], Part | None] = lambda *asked: None


PANELS: Final = (
    SourcePanel(picture_panel.show_picture),
    SourcePanel(sound_panel.show_sound, sound_panel.offer_word_times, sound_panel.part),
)
_NOTHING_LEFT: Final = said("This text has only sinks as keys: show them to see any weights.")


def _settings(trace: "Trace", site: str) -> None:
    """How the open head is drawn, and between what; behind a button, what its numbers are, and which head it is.

    bertviz draws weights between tokens alone: there is nothing to choose but its view.
    """
    if state.current().attention.drawn_as == "bertviz":
        with st.container(horizontal=True, gap="xsmall"):
            controls.drawn_as()
            controls.bertviz_view()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        controls.drawn_as()
        more = st.popover(
            shown(MEASURES[state.current().common.measure].label),
            key="open-head-more",
            icon=":material/tune:",
            help=_("Measure, layer, head and sinks"),
            on_change="rerun",
        )
        controls.whole_words(attention.has_words_of_several(trace, site), attention.has_runs(trace, site))
        if not state.current().common.whole_words:
            captions.show_sign(trace)
    offered = head_metrics.offered(models.abilities(state.current().model))
    controls.fit_measure(offered)
    name = state.current().common.measure
    if more.open:
        with more:
            controls.measure(offered)
    if name != "weights" and attention.is_long(trace, site):
        frame.caption(
            "{label} are shown only for the open head; for such a long text, the tiles show weights.",
            label=shown(MEASURES[name].label),
        )
    if not more.open:
        return
    with more, st.container(horizontal=True):
        controls.layer(trace.layers_of(site))
        controls.head(trace.heads_of(site), disabled=not MEASURES[name].is_per_head)
    with more:
        controls.sinks()


def show(trace: "Trace", site: str, addresses: Mapping[str, str], row: str) -> None:
    """The chosen head of a site, or several, by the measure that is chosen; `row` as for `captions.show_headline`. From
    the tiles at `addresses` the browser may draw it at once.
    """
    captions.show_headline(trace, row)
    _settings(trace, site)
    common = state.current().common
    measure, layer = MEASURES[common.measure], common.layer
    is_said = measure.is_per_head and what_it_does.answer(trace, site, layer, common.head)
    _show_source(trace, site)
    drawn_as = state.current().attention.drawn_as
    if _draw(trace, site, drawn_as, addresses if common.measure == "weights" else {}):
        frame.caption(captions.HOW_TO_READ[drawn_as])
        if named := token_labels.rows_said(trace, site):
            terms.caption(named)
    if measure.is_per_head:
        head_metrics.show(trace, site, layer, common.head, with_job=not is_said)
    if drawn_as != "bertviz":
        terms.caption(captions.of_measure(trace, measure, site, common))
    if measure.is_per_head and "scores" not in models.abilities(state.current().model).lacks:
        label = _("How a weight is computed: this head in the picture of the Transformer")
        st.button(label, key="open-in-walk", icon=":material/zoom_in:", type="tertiary", on_click=_open_in_picture)


def _open_in_picture() -> None:
    """Open this head where its scores are followed down to single products."""
    state.change(learn_tab="The Transformer", depth="head", walk_stop=0)
    present.open_page("learn")


def picture(trace: "Trace", site: str, drawn_as: DrawnAs) -> None:
    """Draw only the open head, for a projector."""
    _show_source(trace, site)
    _draw(trace, site, drawn_as, {})


def _show_source(trace: "Trace", site: str) -> None:
    """What was read, with the open head over it or below it; nothing of a text."""
    for panel in PANELS:
        panel.show(trace, site)


def _draw(trace: "Trace", site: str, drawn_as: DrawnAs, previews: Mapping[str, str]) -> bool:
    """Draw the open head; whether something is drawn of which is not said yet how it is read."""
    if drawn_as == "bertviz":
        bertviz_page.show(trace, site)
        return False
    common = state.current().common
    draw = _draw_long if attention.is_long(trace, site) else _draw_short
    return draw(trace, site, common.layer, MEASURES[common.measure], previews, drawn_as)


def _draw_short(
    trace: "Trace", site: str, layer: int, measure: Measure, addresses: Mapping[str, str], drawn_as: DrawnAs
) -> bool:
    """Every number of the layer is at hand."""
    selection = state.current()
    reader, view = models.reader(selection.model), MatrixView.of(selection.common)
    opened = attention.opened_layer(trace, reader, site, layer, view)
    if not opened.queries.groups or not opened.keys.groups:
        frame.note(_NOTHING_LEFT)
        return False
    # One scale for all heads of the layer, so that they compare.
    top = 1.0 if measure.is_share else float(opened.values.max()) or 1.0
    if drawn_as == "Heatmap":
        head = selection.common.head if measure.is_per_head else 0
        data = _matrix_data(trace, opened.values[head], opened.queries, opened.keys, site, measure, top)
        _heatmap(trace, data, opened, addresses)
    else:
        _lines(trace, opened, finding.kept(trace), site, measure, top)
    return True


def _draw_long(
    trace: "Trace", site: str, layer: int, measure: Measure, addresses: Mapping[str, str], drawn_as: DrawnAs
) -> bool:
    """Only what is looked at is computed."""
    selection = state.current()
    tokens = max(map(len, trace.axis_tokens(site)))
    if not measure.is_per_head and tokens > attention.MAX_ROLLOUT:
        frame.note(
            "A rollout multiplies whole matrices layer by layer; it is available up to {max_rollout:,} tokens, "
            "and this text has {tokens:,}. Weights and norms have no such limit.",
            max_rollout=attention.MAX_ROLLOUT,
            tokens=tokens,
        )
        return False
    reader, view = models.reader(selection.model), MatrixView.of(selection.common)
    if not attention.num_queries(trace, site, view):
        frame.note(_NOTHING_LEFT)
        return False
    if drawn_as == "Heatmap":
        with st.spinner(_("Computing the overview …")):
            opened = attention.long_head(trace, reader, site, layer, selection.common.head, view)
        sides = opened.queries, opened.keys
        source = opened.source.address
        data = _matrix_data(trace, opened.overview, *sides, site, measure, opened.top, opened.block, source)
        _heatmap(trace, data, opened, addresses)
        _serve(opened.source)
        if caption := captions.of_overview(opened, measure):
            terms.caption(caption)
    else:
        _lines_of_window(trace, site, layer, measure)
    return True


@st.fragment
def _serve(source: Source) -> None:
    """Send exact tiles of the visible part. A separate fragment: zooming and panning rerun nothing else."""
    tile_server(source, key="open-head-tiles")


def _lines_of_window(trace: "Trace", site: str, layer: int, measure: Measure) -> None:
    """Lines between as many tokens as the eye and the browser can follow."""
    selection = state.current()
    reader, view = models.reader(selection.model), MatrixView.of(selection.common)
    count = attention.num_queries(trace, site, view)
    length = attention.window_length(trace.heads_of(site))
    token, key_token = finding.kept(trace)
    around = key_token if token is None else token
    # A kept token stands in the middle.
    start = controls.window(max(1, count - length), 0 if around is None else around - length // 2)
    opened = attention.window(trace, reader, site, layer, start, view)
    terms.caption(captions.of_window(opened, site, start, count))
    top = 1.0 if measure.is_share else float(opened.values.max(initial=0.0)) or 1.0
    _lines(trace, opened, finding.kept(trace), site, measure, top)


def _matrix_data(
    trace: "Trace",
    values: Float[np.ndarray, "row column"],
    queries: "Axis",
    keys: "Axis",
    site: str,
    measure: Measure,
    top: float,
    block: tuple[int, int] = (1, 1),
    address: str = "",
) -> MatrixData:
    common = state.current().common
    name = head_name(site, common.layer, common.head) if measure.is_per_head else f"{site} L{common.layer + 1}"
    what = {"site": written.label(site), "measure": shown(measure.label).lower()}
    return MatrixData(
        values=values,
        row_tokens=queries.labels,
        column_tokens=keys.labels,
        scale=ColourScale.root(shown(measure.number), top),
        title=head_metrics.title(site, common.layer, common.head if measure.is_per_head else None),
        label=_("{site}, {measure} of one head as a heatmap.", **what),
        note="" if measure.is_share else _("no upper bound"),
        caption=_("{site}, {measure}", **what),
        row_name=_("query"),
        column_name=_("key"),
        file_name=file_name(name, common.measure, sentence=common.text),
        block=block,
        address=address,
        rows_write=trace.rows_write(site),
        focus=_focus(trace, queries, keys, site, measure),
    )


def _focus(trace: "Trace", queries: "Axis", keys: "Axis", site: str, measure: Measure) -> focus.FocusHead:
    """How the page's other pictures know the rows and columns of the open head."""
    common = state.current().common
    name = written.head_label(common.layer, common.head if measure.is_per_head else None)
    asks = attention.can_ask_why(trace, models.reader(state.current().model))
    return focus.head(name, site, attention.focus_axes(trace, site), queries.groups, keys.groups, asks=asks)


def _heatmap(trace: "Trace", data: MatrixData, opened: Opened, addresses: Mapping[str, str]) -> None:
    """Draw the matrix, with whose message of a chat its queries and keys are of."""
    common, cell = state.current().common, finding.kept(trace)
    rows, columns = (texts.chat_spans(trace, axis) for axis in (opened.queries, opened.keys))
    address = addresses.get(common.site)
    previews = {addresses[site]: _sides(trace, site) for site in addresses}
    matrix_picture(
        replace(data, row_roles=rows, column_roles=columns),
        Kept(*_kept(opened, cell)),
        on_keep=lambda kept: _keep_in_heatmap(kept, opened, cell),
        key="open-head",
        preview=Preview((address, common.layer, common.head), previews) if address else NO_PREVIEW,
    )


def _sides(trace: "Trace", site: str) -> PreviewSides | None:
    """Between what the browser shows a head of a site from its tile; None where that is the tile as it is."""
    view = MatrixView.of(state.current().common)
    if attention.is_plain(trace, site, view):
        return None
    queries, keys = attention.shown_axes(trace, site, view)
    sides = focus.head("", site, attention.focus_axes(trace, site), queries.groups, keys.groups)
    return PreviewSides(queries.labels, keys.labels, sides.rows, sides.columns)


def _keep_in_heatmap(kept: Kept, opened: Opened, cell: Cell) -> None:
    _keep(kept.row, kept.column, opened, cell)
    # Lines follow what is kept.
    state.change(window_start=None)


def _lines(trace: "Trace", opened: attention.OpenedLayer, cell: Cell, site: str, measure: Measure, top: float) -> None:
    selection = state.current()
    common = selection.common
    count = len(opened.values)
    on = {head for head in (common.head, *common.further_heads) if head < count} if measure.is_per_head else {0}
    data = LinesData(
        values=opened.values,
        top=top,
        query_tokens=opened.queries.labels,
        key_tokens=opened.keys.labels,
        head_names=tuple(
            written.head_label(common.layer, head if measure.is_per_head else None) for head in range(count)
        ),
        number=shown(measure.number),
        title=written.label(site),
        query_roles=texts.chat_spans(trace, opened.queries),
        key_roles=texts.chat_spans(trace, opened.keys),
        file_name=file_name(f"{site} L{common.layer + 1}", common.measure, sentence=common.text),
        focus=_focus(trace, opened.queries, opened.keys, site, measure),
    )
    query, key = _kept(opened, cell)
    # A person who has kept both sees the lines of the query; the key is not forgotten.
    lines = LinesView(
        tuple(sorted(on)), query, None if query is not None else key, min(100, selection.attention.threshold)
    )
    head_lines(data, lines, on_change=lambda lines: _take(lines, opened, cell, measure), key="open-lines")


def _kept(opened: Opened, cell: Cell) -> Cell:
    """The row and the column of the kept query and key; None for one that is not kept or not shown."""
    query, key = cell
    return (
        None if query is None else opened.queries.index_of(query),
        None if key is None else opened.keys.index_of(key),
    )


def _keep(row: int | None, column: int | None, opened: Opened, cell: Cell) -> None:
    """Keep this row and column; of a word, the token that was kept in it, or else its first."""
    query, key = _kept(opened, cell)
    if (row, column) != (query, key):
        # The heads of this cell are looked for now.
        state.change(from_words=(), to_words=())
    # Who keeps a row stays at its head, on other pages too; and so does who lets go of what the page proposed.
    state.change(
        token=_token(row, opened.queries, cell[0] if row == query else None),
        key_token=_token(column, opened.keys, cell[1] if column == key else None),
        head_chosen=True,
    )


def _token(index: int | None, axis: "Axis", kept: int | None) -> int | None:
    return axis.groups[index][0] if kept is None and index is not None else kept


def _take(lines: LinesView, opened: attention.OpenedLayer, cell: Cell, measure: Measure) -> None:
    """What a person did to the lines becomes the selection; the open head stays as long as it is on."""
    _, key = _kept(opened, cell)
    # Lines keep one token only: a key stays kept behind a query.
    _keep(lines.query, lines.key if lines.query is None else key, opened, cell)
    before = state.current()
    after = before.changed(threshold=lines.threshold)
    if measure.is_per_head:
        head = before.common.head if before.common.head in lines.heads else lines.heads[0]
        after = after.changed(further_heads=tuple(other for other in lines.heads if other != head))
        after = after if head == before.common.head else after.changed(head=head)
    state.put(after)
