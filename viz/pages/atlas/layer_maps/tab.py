"""All metrics as maps, layer × head: every one small, the chosen one large; a click chooses a map or a head."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from viz.pages.atlas import head_panel
from viz.pages.atlas.metric_texts import HeadMap, View
from viz.pictures.component import Component
from viz.pictures.head_grid.component import HeadChoice, Pair, hear_head
from viz.pictures.payload import CHOSEN, hear
from viz.selection import state
from viz.text.messages import _
from viz.text.written import file_name
from viz.theme import DIVERGING_INKS, SEQUENTIAL_INKS, Inks
from viz.ui import controls, frame

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


_COMPONENT: Final = Component("pages/atlas/layer_maps/head_maps.js", "pages/atlas/layer_maps/head_maps.css")


@dataclass(frozen=True, eq=False, slots=True)
class HeadMaps:
    """What is drawn."""

    site: str  #: whose heads they are
    maps: Sequence[HeadMap]  #: at least one, all of the same shape
    chosen: Annotated[str, CHOSEN]  #: key of the one that is large
    selected: Annotated[Pair, CHOSEN]  #: the head that is marked
    name: Annotated[str, CHOSEN]  #: of the saved picture, without its ending
    scale: Inks = SEQUENTIAL_INKS
    centred: Inks = DIVERGING_INKS

    def derived(self) -> dict[str, object]:
        """Rows and columns of every map."""
        layers, heads = self.maps[0].values.shape
        return {"layers": layers, "heads": heads}


def show(atlas: "Atlas", view: View) -> None:
    """All metrics as little maps, the chosen one large, beside the head that is chosen."""
    common = state.current().common
    name = file_name("atlas", view.key, view.site, view.read_off)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            head_maps(
                HeadMaps(view.site, view.maps, view.key, HeadChoice(common.layer, common.head), name),
                on_map=lambda key: state.change(corpus_metric=key),
                on_head=lambda head: state.change(layer=head.layer, head=head.head),
                key="atlas-maps",
            )
            frame.small_print(
                "Each cell is a head; the lighter, the higher its mean over the corpus. Each metric has its own "
                "colour scale, from 0 to its highest head. If the metric has a chance level, colours start "
                "there: warm above it, cold below. Click a small map to enlarge it, or a cell to open its head."
            )
            controls.table_button(_("This map (CSV)"), partial(head_panel.one_metric, view.values), name)
        with st.container():
            head_panel.show(atlas, view)


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
