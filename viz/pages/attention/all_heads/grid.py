"""The grid of all heads of an attention: its tiles, what they show, and what a click on one does."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from viz.access import attention, chats, long_texts, models
from viz.access.head_jobs import of_model
from viz.pictures.head_grid.component import Followed, Grid, HeadChoice, Ranking, TileJobs, TileMetric, head_grid
from viz.pictures.tiles.store import Frame, send_tiles
from viz.selection import state
from viz.selection.common import Measure
from viz.text import sites
from viz.text.messages import _, shown
from viz.text.sites import file_name
from viz.ui import finding, head_jobs, measures
from viz.ui.measures import MEASURES

if TYPE_CHECKING:
    from model import Trace


def measure_of(trace: "Trace", site: str) -> Measure:
    """What tiles show: the measure of the open head, but of a long text the weights."""
    selection = state.current()
    measure = selection.common.measure
    is_offered = measure in measures.offered(models.abilities(selection.model))
    return measure if is_offered and not long_texts.is_long(trace, site) else "weights"


def send(trace: "Trace", site: str, measure: Measure) -> None:
    """Send the tiles of an attention to the browser, where the grid waits for them."""
    measured = attention.head_tiles(trace, models.reader(state.current().model), site, measure)
    send_tiles(
        measured.tiles,
        Frame(
            spec=measured.tiles.spec,
            query_tokens=trace.row_names(site),
            key_tokens=trace.axis_tokens(site)[1],
            address=attention.tiles_key(trace, site, measure),
            site=site,
            number=MEASURES[measure].number,
            top=measured.top,
        ),
        key=f"tiles-{site}",
    )


def draw(
    trace: "Trace",
    site: str,
    measure: Measure,
    metric: TileMetric | None = None,
    ranking: Ranking | None = None,
    on_open: Callable[[], None] = lambda: None,
) -> Mapping[str, str]:
    """The grid of a site's heads, whose tiles are sent elsewhere; the addresses of the tiles of all attentions.

    Args:
        trace, site, measure: what is shown.
        metric, ranking: of the tiles.
        on_open: what happens after a person has opened a head, besides that it is open.
    """
    selection = state.current()
    addresses = {other: attention.tiles_key(trace, other, measure) for other in trace.sites}
    layers, heads = trace.shapes[site]
    is_mean = not MEASURES[measure].is_per_head

    def open_head(choice: HeadChoice) -> None:
        _open(trace, choice)
        on_open()

    jobs = {other: _jobs(trace, other) for other in trace.sites} if not is_mean else {}
    grid = Grid(
        address=addresses[site],
        shape=(layers, 1 if is_mean else heads),
        selected=HeadChoice(selection.common.layer, 0 if is_mean else selection.common.head),
        # What is known of a head does not hold of all together.
        metric=None if is_mean else metric,
        ranking=None if is_mean else ranking,
        jobs=jobs.get(site),
        is_mean=is_mean,
        roles=chats.spans_of_tokens(trace),
        followed=Followed("site", tuple(addresses.values()), tuple(map(jobs.get, addresses))),
        name=file_name(site, "all heads", *([] if measure == "weights" else [measure]), sentence=trace.text),
        caption=_(
            "{site}, {measure} of every head", site=sites.label(site), measure=shown(MEASURES[measure].label).lower()
        ),
    )
    head_grid(grid, on_open=open_head, key="heads")
    return addresses


def _jobs(trace: "Trace", site: str) -> TileJobs | None:
    return head_jobs.on_tiles(of_model(state.current().model, site), trace.shapes[site])


def words_said(site: str) -> str:
    """What the words under the tiles of a site stand for; "" where there are none."""
    return head_jobs.words_said(of_model(state.current().model, site))


def _open(trace: "Trace", choice: HeadChoice) -> None:
    """Open a head; the cell that was kept, or proposed, stays kept."""
    token, key_token = finding.kept(trace)
    common = state.current().common
    head = choice.head if MEASURES[common.measure].is_per_head else common.head
    state.change(layer=choice.layer, head=head, token=token, key_token=key_token)
