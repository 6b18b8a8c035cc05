"""Show metrics of all heads as maps, layer × head: every metric small, the chosen one large."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from viz.pages.atlas.view import HeadMap
from viz.pictures.component import Component
from viz.pictures.head_grid.component import HeadChoice, Pair, hear_head
from viz.pictures.payload import CHOSEN, hear
from viz.theme import DIVERGING_INKS, SEQUENTIAL_INKS, Inks

_COMPONENT: Final = Component("pages/atlas/layer_maps/head_maps.js", "pages/atlas/layer_maps/head_maps.css")


@dataclass(frozen=True, eq=False, slots=True)
class HeadMaps:
    """What is drawn.

    Attributes:
        maps: at least one, all of the same shape.
        chosen: key of the one that is large.
        selected: the head that is marked.
        name: of the saved picture, without its ending.
    """

    maps: Sequence[HeadMap]
    chosen: Annotated[str, CHOSEN]
    selected: Annotated[Pair, CHOSEN]
    name: Annotated[str, CHOSEN]
    scale: Inks = SEQUENTIAL_INKS
    centred: Inks = DIVERGING_INKS

    def derived(self) -> dict[str, object]:
        """Rows and columns of every map."""
        layers, heads = self.maps[0].values.shape
        return {"layers": layers, "heads": heads}


def head_maps(
    maps: HeadMaps, *, on_map: Callable[[str], object], on_head: Callable[[HeadChoice], object], key: str
) -> None:
    """Show all maps; `on_map` and `on_head` are called before the next run, with what a person chose."""
    _COMPONENT.show(
        maps,
        key=key,
        map=hear(on_map, str, key={head_map.key for head_map in maps.maps}),
        head=hear_head(on_head, maps.maps[0].values.shape),
    )
