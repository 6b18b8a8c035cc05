"""The attention page on a projector: the grid of all heads, and after it the open head, as a heatmap and as lines."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import long_texts, models
from viz.pages.attention.all_heads import grid, long_tiles
from viz.pages.attention.opened_head import headline, panel
from viz.selection import state
from viz.selection.attention import DRAWN_AS
from viz.ui import controls, measures, present

if TYPE_CHECKING:
    from model import Trace

#: The grid, and each way to draw the open head.
_SCREENS: Final = 1 + len(DRAWN_AS)


def show(trace: "Trace") -> None:
    """The screen on which the presentation is."""
    site = state.current().common.site
    controls.fit_measure(measures.offered(models.abilities(state.current().model)))
    screen = present.steps(_SCREENS, "screen")
    with st.container(key="below-a-sentence"):
        headline.show(trace)
        if screen:
            panel.picture(trace, site, DRAWN_AS[screen - 1])
            return
        measure = grid.measure_of(trace, site)
        grid.draw(trace, site, measure, on_open=lambda: state.choose(screen=1))
    with st.container(gap=None):
        if long_texts.is_long(trace, site):
            long_tiles.send(trace, site)
        else:
            long_tiles.stop()
            grid.send(trace, site, measure)
