"""Show a button that copies the address of what is shown, and tell the page how pictures are saved."""

from collections.abc import Mapping

from viz.components.declare import declare
from viz.core import payload
from viz.core.messages import shown

_COMPONENT = declare("components/copy_link/copy_link.js", "components/copy_link/copy_link.css")


def copy_link(always: Mapping[str, str], note: str, paper: str, chart_format: str) -> None:
    """The button.

    Args:
        always: parameters that the link has even where the address leaves them out, as they have their default value.
        note: what the link does not bring, said once it is copied.
        paper: what saved pictures lie on.
        chart_format: what the camera of a chart saves.
    """
    header = {"always": dict(always), "note": shown(note), "paper": paper, "format": chart_format}
    _COMPONENT(data=payload.pack(header), key="copy-link", width="content")
