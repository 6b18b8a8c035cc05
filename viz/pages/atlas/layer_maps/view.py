"""What is looked at in an atlas: one metric of the heads of one site, and all its metrics. Knows no widgets."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.pages.atlas import metric_texts
from viz.pages.atlas.layer_maps.component import HeadMap
from viz.selection.atlas import CORPUS_METRICS

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


@dataclass(frozen=True, eq=False)
class View:
    """One metric of every head of a site.

    Attributes:
        site, place: which attention, and its place in the tables of an atlas.
        key: the figure, of `choices.CORPUS_FIGURES`.
        read_off: "weights" or "norms".
        maps: all metrics that heads of this site have; the one in question may not be among them.
    """

    site: str
    place: int
    key: str
    read_off: str
    maps: tuple[HeadMap, ...]

    @property
    def name(self) -> str:
        """The metric as an atlas names it."""
        return metric_texts.PREFIXES[self.read_off] + self.key

    @property
    def map(self) -> HeadMap:
        """The metric in question."""
        return next(one for one in self.maps if one.key == self.key)

    @property
    def values(self) -> Float[np.ndarray, "layer head"]:
        """Its numbers."""
        return self.map.values

    def shown(self, value: float) -> str:
        """A number of it, with its unit."""
        return f"{value:.{self.map.decimals}f} {self.map.unit}".rstrip()


def maps_of(atlas: "Atlas", place: int, read_off: str) -> tuple[HeadMap, ...]:
    """All metrics that heads of a site have, in the order in which they are listed."""
    found = []
    for key in CORPUS_METRICS:
        values = atlas.metrics.get(metric_texts.PREFIXES[read_off] + key)
        if values is not None and not np.isnan(values[place]).all():
            text = metric_texts.TEXTS[key]
            found.append(HeadMap(key, text.name, text.unit, values[place], text.decimals))
    return tuple(found)
