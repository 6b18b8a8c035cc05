"""The metrics of an atlas: the maps of a site, the one that is looked at, and why a site has none."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.pages.atlas import data
from viz.pages.atlas.data import shape_of
from viz.pictures.payload import LOCAL, Text
from viz.selection import state
from viz.text.messages import _, said, shown, with_and
from viz.text.metric import Metric
from viz.text.metrics import METRICS, OF_A_CORPUS
from viz.text.written import SITES, decimal
from viz.ui import controls

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas

READ_OFF_LABELS: Final = {"weights": said("Weights"), "norms": said("Norms")}
PREFIXES: Final = {"weights": "", "norms": "norm_"}
"""What a metric is read off → how its name begins in an atlas."""


def read_off(atlas: "Atlas") -> str:
    """What metrics are computed from: weights, or the norms that a person chose, if the atlas has them."""
    return state.current().atlas.read_off if _has_norms(atlas) else "weights"


def read_off_control(atlas: "Atlas") -> None:
    """The choice between weights and norms, for an atlas that has both."""
    if _has_norms(atlas):
        help_text = _("Weights, or the norms of the vectors that a head adds for each token (Kobayashi et al. 2020).")
        controls.segmented("read_off", _("Computed from"), READ_OFF_LABELS, help_text=help_text)


def _has_norms(atlas: "Atlas") -> bool:
    return any(name.startswith(PREFIXES["norms"]) for name in atlas.metrics)


def why_none(atlas: "Atlas", key: str, site: str) -> str:
    """Why no head has a metric at a site."""
    return lacking(atlas) if key in data.lacking(atlas) else METRICS[key].why_none(site)


def lacking(atlas: "Atlas") -> str:
    """Which metrics an atlas lacks because an earlier version measured it, as a sentence; "" where it lacks none."""
    names = [shown(METRICS[key].name) for key in data.lacking(atlas)]
    message = (
        "This atlas has no numbers for {metrics}: an earlier version of Headlight made it. Delete its file and restart "
        "the app to measure it again."
    )
    return _(message, metrics=with_and(names)) if names else ""


@dataclass(frozen=True, eq=False)
class HeadMap:
    """One metric of all heads."""

    key: str  #: by which it is chosen
    #: name, unit: as people read them.
    name: Text
    unit: Text
    values: Annotated[Float[np.ndarray, "layer head"], LOCAL]  #: none below 0; NaN where a head has none
    decimals: Annotated[int, LOCAL]  #: how many are shown
    #: the number that chance gives, of a metric that has one: colours begin there.
    centre: Annotated[float | None, LOCAL] = None

    def derived(self) -> dict[str, object]:
        """The numbers as texts, and as positions on the colour scale, layer by layer; the ends of the scale."""
        low, high = self.ends
        values = [None if np.isnan(value) else float(value) for value in self.values.flat]
        return {
            "texts": ["–" if value is None else decimal(value, self.decimals) for value in values],
            "shades": [None if value is None else round((value - low) / max(high - low, 1e-9), 3) for value in values],
            "low": decimal(low, self.decimals) if low else "0",
            "high": decimal(high, self.decimals),
            "is_centred": self.centre is not None,
        }

    @property
    def ends(self) -> tuple[float, float]:
        """Of the colour scale: from 0 to the highest number; around a centre, as far below it as above."""
        known = self.values[~np.isnan(self.values)]
        if self.centre is None:
            return 0.0, float(known.max(initial=0.0))
        bound = float(np.abs(known - self.centre).max(initial=0.0))
        return self.centre - bound, self.centre + bound


@dataclass(frozen=True, eq=False)
class View:
    """One metric of every head of a site."""

    #: site, index: which attention, and its index in the tables of an atlas.
    site: str
    index: int
    shape: tuple[int, int]  #: its layers, and the most heads that one has
    key: str  #: the metric, of `viz.text.metrics.OF_A_CORPUS`
    read_off: str  #: "weights" or "norms"
    maps: tuple[HeadMap, ...]  #: all metrics that heads of this site have; the one in question may not be among them

    @property
    def metric(self) -> Metric:
        """Its name, texts and numbers for people."""
        return METRICS[self.key]

    @property
    def name(self) -> str:
        """The metric as an atlas names it."""
        return PREFIXES[self.read_off] + self.key

    @property
    def map(self) -> HeadMap:
        """The metric in question. Raises a DataError if no head has it: no token could look at another."""
        for head_map in self.maps:
            if head_map.key == self.key:
                return head_map
        raise DataError("These sentences are too short for any metric of heads. Load a file with longer ones.")

    @property
    def values(self) -> Float[np.ndarray, "layer head"]:
        """Its numbers."""
        return self.map.values

    def best(self, count: int) -> list[tuple[int, int]]:
        """The heads with the best numbers, layer and head: the highest, or of an error the lowest."""
        order = np.argsort(self.values if self.metric.is_error else -self.values, axis=None, kind="stable")
        heads = self.values.shape[1]
        ranked = [divmod(int(index), heads) for index in order]
        return [at for at in ranked if not np.isnan(self.values[at])][:count]


def view_of(atlas: "Atlas", site: str, key: str, read_off: str) -> View:
    """A metric of a site."""
    return View(site, SITES.index(site), shape_of(atlas, site), key, read_off, maps_of(atlas, site, read_off))


def maps_of(atlas: "Atlas", site: str, read_off: str) -> tuple[HeadMap, ...]:
    """All metrics that heads of a site have, in the order in which they are listed."""
    layers, heads = shape_of(atlas, site)
    maps = []
    for key in OF_A_CORPUS:
        values = atlas.metrics.get(PREFIXES[read_off] + key)
        if values is None:
            continue
        of_site = values[SITES.index(site), :layers, :heads]
        if not np.isnan(of_site).all():
            metric = METRICS[key]
            maps.append(HeadMap(key, metric.name, metric.unit, of_site, metric.decimals, metric.chance))
    return tuple(maps)
