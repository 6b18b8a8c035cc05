"""Send the heads of a trace to the browser as tiles, where grids and words find them by their address."""

from typing import TYPE_CHECKING

from viz.access import attention
from viz.pictures.focus import FocusAxis
from viz.pictures.tiles.store import Frame, send_frame, send_layer, send_tiles
from viz.selection.choices import Measure
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Reader, Trace
    from viz.access.long_texts import Grid
    from viz.pictures.tiles.codes import GridSpec

#: By which tokens other pictures know rows and columns; None where no other picture is of the same text.
Axes = tuple[FocusAxis, FocusAxis] | None


def send(trace: "Trace", reader: "Reader", site: str, axes: Axes, *, key: str, measure: Measure = "weights") -> str:
    """Send all heads of an attention by a measure; the address under which they then are (`attention.tiles_key`)."""
    measured = attention.head_tiles(trace, reader, site, measure)
    frame = _frame(trace, site, measured.tiles.spec, axes, measure, measured.top)
    send_tiles(measured.tiles, frame, key=key)
    return frame.address


def send_computed(trace: "Trace", site: str, grid: "Grid", axes: Axes, *, key: str) -> None:
    """Send the layers of a long text that are computed by now, and how many there will be."""
    frame = _frame(trace, site, grid.spec, axes)
    send_frame(frame, key=key)
    for layer, tiles in sorted(dict(grid.layers).items()):
        send_layer(tiles, address=frame.address, key=f"{key}-{layer}")


def _frame(
    trace: "Trace", site: str, spec: "GridSpec", axes: Axes, measure: Measure = "weights", top: float = 1.0
) -> Frame:
    return Frame(
        spec=spec,
        query_tokens=trace.row_names(site),
        key_tokens=trace.axis_names(site)[1],
        address=attention.tiles_key(trace, site, measure),
        axes=axes,
        number=MEASURES[measure].number,
        top=top,
    )
