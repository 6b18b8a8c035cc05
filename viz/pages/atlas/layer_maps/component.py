"""Metrics of all heads as maps, layer × head: every metric as a little map at a glance, the chosen one large.

Packs numbers and their names for `head_maps.js`, and reads back which map or head a person chose. Knows nothing of what
a metric means or of how it is computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.components.head_grid.component import HeadChoice, read_choice
from viz.core import bundle, fingerprint, payload, theme

_HTML: Final = """
<div class="head-maps"></div>
"""
_COMPONENT = st.components.v2.component(
    "headlight_head_maps",
    html=_HTML,
    css=bundle.styles("pages/atlas/layer_maps/head_maps.css"),
    js=bundle.script("pages/atlas/layer_maps/head_maps.js"),
)


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

    @property
    def highest(self) -> float:
        """The number that is lightest."""
        known = self.values[~np.isnan(self.values)]
        return float(known.max(initial=0.0))

    def texts(self) -> list[str]:
        """The numbers as they are shown, layer by layer."""
        return ["–" if np.isnan(value) else f"{value:.{self.decimals}f}" for value in self.values.flat]

    def shades(self) -> list[float | None]:
        """Parts of the highest number, from 0 to 1."""
        high = max(self.highest, 1e-9)
        return [None if np.isnan(value) else round(float(value) / high, 3) for value in self.values.flat]


def pack_maps(maps: Sequence[HeadMap], chosen: str, selected: HeadChoice, name: str) -> bytes:
    """The payload of `head_maps.js`."""
    layers, heads = maps[0].values.shape
    packed = [
        {
            "key": one.key,
            "name": one.name,
            "unit": one.unit,
            "texts": one.texts(),
            "shades": one.shades(),
            "high": f"{one.highest:.{one.decimals}f}",
        }
        for one in maps
    ]
    header = {
        "layers": layers,
        "heads": heads,
        "maps": packed,
        "chosen": chosen,
        "selected": [selected.layer, selected.head],
        "name": name,
        "scale": {"stops": theme.SEQUENTIAL, "dark": theme.NIGHT, "pale": theme.LIGHT},
        "digest": fingerprint.digest(repr(packed), f"{layers} {heads}"),
    }
    return payload.pack(header)


def read_map(value: object, maps: Sequence[HeadMap]) -> str | None:
    """Which map the browser says was chosen, if there is such a one."""
    key = value.get("key") if isinstance(value, Mapping) else None
    return key if isinstance(key, str) and key in {one.key for one in maps} else None


def head_maps(
    maps: Sequence[HeadMap],
    *,
    chosen: str,
    selected: HeadChoice,
    on_map: Callable[[str], None],
    on_head: Callable[[HeadChoice], None],
    key: str,
    name: str,
) -> None:
    """Show all maps, the chosen one large.

    Args:
        maps: at least one, all of the same shape.
        chosen: key of the one that is large.
        selected: the head that is marked.
        on_map, on_head: called before the next run, with what a person chose.
        key: of the component.
        name: of the files in which a person saves the picture, without their ending.
    """

    def take_map() -> None:
        picked = read_map(st.session_state[key].get("map"), maps)
        if picked is not None:
            on_map(picked)

    def take_head() -> None:
        picked = read_choice(st.session_state[key].get("head"), *maps[0].values.shape)
        if picked is not None:
            on_head(picked)

    data = pack_maps(maps, chosen, selected, name)
    _COMPONENT(data=data, key=key, on_map_change=take_map, on_head_change=take_head)
