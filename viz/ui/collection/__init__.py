"""The collection: views of any page that a person pinned, as a list in the head of every page and as one file."""

from typing import TYPE_CHECKING

from viz.selection.selection import PAGES
from viz.text.messages import _

if TYPE_CHECKING:
    from viz.selection.selection import Selection
    from viz.selection.url import Pin


def title(pin: "Pin", selection: "Selection") -> str:
    """What a view is called before it is drawn."""
    tab = str(selection.value(PAGES[pin.page].tab))
    return _("{page}: {tab}", page=PAGES[pin.page].title, tab=_(tab))
