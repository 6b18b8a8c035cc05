"""Name what is looked at in an atlas: one metric of the heads of one site, and all its metrics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.pages.atlas import metric_texts
from viz.pages.atlas.data import shape_of
from viz.pictures.payload import LOCAL, Text
from viz.selection.choices import CORPUS_METRICS
from viz.text.messages import shown
from viz.text.written import SITES

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


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
            "texts": ["–" if value is None else f"{value:.{self.decimals}f}" for value in values],
            "shades": [None if value is None else round((value - low) / max(high - low, 1e-9), 3) for value in values],
            "low": f"{low:.{self.decimals}f}" if low else "0",
            "high": f"{high:.{self.decimals}f}",
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
    key: str  #: the metric, of `viz.selection.choices.CORPUS_METRICS`
    read_off: str  #: "weights" or "norms"
    maps: tuple[HeadMap, ...]  #: all metrics that heads of this site have; the one in question may not be among them

    @property
    def name(self) -> str:
        """The metric as an atlas names it."""
        return metric_texts.PREFIXES[self.read_off] + self.key

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
        order = np.argsort(self.values if self.key in metric_texts.ERRORS else -self.values, axis=None, kind="stable")
        heads = self.values.shape[1]
        ranked = [divmod(int(index), heads) for index in order]
        return [at for at in ranked if not np.isnan(self.values[at])][:count]

    def shown(self, value: float) -> str:
        """A number of it, with its unit."""
        return f"{value:.{self.map.decimals}f} {shown(self.map.unit)}".rstrip()


def maps_of(atlas: "Atlas", site: str, read_off: str) -> tuple[HeadMap, ...]:
    """All metrics that heads of a site have, in the order in which they are listed."""
    layers, heads = shape_of(atlas, site)
    maps = []
    for key in CORPUS_METRICS:
        values = atlas.metrics.get(metric_texts.PREFIXES[read_off] + key)
        if values is None:
            continue
        of_site = values[SITES.index(site), :layers, :heads]
        if not np.isnan(of_site).all():
            text = metric_texts.TEXTS[key]
            centre = metric_texts.CHANCE.get(key)
            maps.append(HeadMap(key, text.name, text.unit, of_site, text.decimals, centre))
    return tuple(maps)
