"""Name what is looked at in an atlas: one metric of the heads of one site, and all its metrics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.core.messages import shown
from viz.core.sites import SITES
from viz.pages.atlas import metric_texts
from viz.pages.atlas.data import shape_of
from viz.selection.atlas import CORPUS_METRICS

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


@dataclass(frozen=True, eq=False)
class HeadMap:
    """One metric of all heads.

    Attributes:
        key: by which it is chosen.
        name, unit: as people read them.
        values: none below 0; NaN where a head has none.
        decimals: how many are shown.
    """

    key: str
    name: str
    unit: str
    values: Float[np.ndarray, "layer head"]
    decimals: int

    def packed(self) -> dict[str, object]:
        """The map as `head_maps.js` reads it: numbers as texts, and as parts of the highest one, layer by layer."""
        high = float(self.values[~np.isnan(self.values)].max(initial=0.0))
        return {
            "key": self.key,
            "name": shown(self.name),
            "unit": shown(self.unit),
            "texts": ["–" if np.isnan(value) else f"{value:.{self.decimals}f}" for value in self.values.flat],
            "shades": [
                None if np.isnan(part) else round(float(part) / max(high, 1e-9), 3) for part in self.values.flat
            ],
            "high": f"{high:.{self.decimals}f}",
        }


@dataclass(frozen=True, eq=False)
class View:
    """One metric of every head of a site.

    Attributes:
        site, index: which attention, and its index in the tables of an atlas.
        shape: its layers, and the most heads that one has.
        key: the metric, of `viz.selection.atlas.CORPUS_METRICS`.
        read_off: "weights" or "norms".
        maps: all metrics that heads of this site have; the one in question may not be among them.
    """

    site: str
    index: int
    shape: tuple[int, int]
    key: str
    read_off: str
    maps: tuple[HeadMap, ...]

    @property
    def name(self) -> str:
        """The metric as an atlas names it."""
        return metric_texts.PREFIXES[self.read_off] + self.key

    @property
    def map(self) -> HeadMap:
        """The metric in question.

        Raises:
            DataError: no head has it, for in none of the sentences a token could look at another.
        """
        for head_map in self.maps:
            if head_map.key == self.key:
                return head_map
        raise DataError("These sentences are too short for any metric of heads. Load a file with longer ones.")

    @property
    def values(self) -> Float[np.ndarray, "layer head"]:
        """Its numbers."""
        return self.map.values

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
            maps.append(HeadMap(key, text.name, text.unit, of_site, text.decimals))
    return tuple(maps)
