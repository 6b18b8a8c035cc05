"""The tabs of the atlas, which rerun without the rest of the page."""

from typing import TYPE_CHECKING

from viz.pages.atlas import scatter
from viz.pages.atlas.heads import tab as heads
from viz.selection.choices import AtlasTab
from viz.ui import frame

if TYPE_CHECKING:
    from model.analysis.atlas.measure import Atlas


@frame.fragment
def show(atlas: "Atlas") -> None:
    """The open tab."""
    tabs: list[frame.Tab[AtlasTab]] = [("Heads", heads.show), ("Scatter", scatter.show)]
    frame.tabs("atlas_tab", tabs, atlas)
