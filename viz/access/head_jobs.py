"""What each head of the chosen model is for: from the atlas beside the model, or else from the open sentence alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model import later
from model.errors import CheckpointError, DataError
from viz.access import attention, models
from viz.selection.choices import ModelChoice
from viz.server.caches import FileState, cached

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.atlas.measure import Atlas
    from model.analysis.metrics.head_jobs import HeadJob

MAX_ATLASES: Final = 4
MAX_SITES: Final = 64
#: The atlas that lies beside a model.
SHIPPED: Final = "atlas.npz"


@dataclass(frozen=True, eq=False)
class HeadJobs:
    """Layer and head → its jobs, the surest first; heads without a job are not there."""

    of_heads: "Mapping[tuple[int, int], tuple[HeadJob, ...]]"
    sentences: int  #: how many the corpus has; 0 where the open sentence alone was measured


def of_model(choice: ModelChoice, site: str) -> HeadJobs | None:
    """What the heads of a site do over a corpus; None for a model without an atlas beside it. Raises as `reader`."""
    reader = models.reader(choice)
    try:
        file = FileState.of(models.folder(choice) / SHIPPED)
    except (OSError, CheckpointError):
        return None
    return _of_atlas(reader, site, file)


@cached(max_entries=MAX_SITES)
def _of_atlas(reader: "Reader", site: str, file: FileState) -> HeadJobs | None:
    atlas = _read(reader, file)
    if atlas is None:
        return None
    at, layers, most = later.encoder_decoder.SITES.index(site), len(atlas.heads[site]), max(atlas.heads[site])
    metrics, intervals = (
        {name: table[at, :layers, :most] for name, table in of.items()} for of in (atlas.metrics, atlas.intervals)
    )
    return HeadJobs(later.head_jobs.jobs_of_heads(site, metrics, intervals), len(atlas.texts))


def in_sentence(trace: "Trace", site: str) -> HeadJobs:
    """What the heads of a site do in one sentence that is not long; without intervals."""
    return HeadJobs(later.head_jobs.jobs_of_heads(site, attention.head_metrics(trace, site), {}), 0)


@cached(max_entries=MAX_ATLASES)
def _read(reader: "Reader", file: FileState) -> "Atlas | None":
    """The atlas in a file, if it was made with exactly this model."""
    try:
        atlas = later.atlas_file.load_atlas(Path(file.path))
    except DataError:
        # The atlas page says what is wrong with the file.
        return None
    return atlas if atlas.model == later.atlas_measure.digest_of(reader) and site_known(atlas, reader) else None


def site_known(atlas: "Atlas", reader: "Reader") -> bool:
    """Whether the tables are of the heads that the model has."""
    return dict(atlas.heads) == {site: tuple(heads) for site, heads in reader.abilities.heads.items()}
