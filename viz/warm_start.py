"""Load what the first page needs as soon as the server runs, while the browser still opens its address.

Streamlit runs no page before a browser has loaded Streamlit's own scripts and is connected. Until then this thread
imports the page's modules and torch, opens the first model, and reads the sentence that pages open with. All of it goes
through the caches from which pages take it, under their keys: what is not ready yet a page waits for, or does itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from threading import Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from streamlit import App

#: What the names of both packages begin with: nothing in the repository, `headlight.` where they are installed.
_ABOVE: Final = __name__.removesuffix("viz.warm_start")
#: What the first page imports, all in all.
MODULES: Final = (
    "model.adapters.inspect_folder",
    "viz.server.widgets",
    "viz.server.memory",
    "viz.ui.present",
    "viz.ui.sidebar",
    "viz.ui.frame",
    "viz.pages.attention.all_heads.tab",
    "viz.pages.attention.opened_head.bertviz_page",
    "viz.pages.attention.why.tab",
    "viz.pages.attention.export",
)


@asynccontextmanager
async def while_serving(server: "App") -> AsyncIterator[None]:
    """Around the server's work: begin to load when it begins."""
    # Not at the top: what the server itself needs comes first.
    from viz.server.background_jobs import LOADING_THREAD

    Thread(target=prepare, daemon=True, name=LOADING_THREAD).start()
    yield


def prepare() -> None:
    """Fill the caches of the first page. A model that cannot be opened is left to the page, which says why."""
    for module in MODULES:
        import_module(f"{_ABOVE}{module}")
    from model.errors import HeadlightError
    from model.temporary_folders import remove_left
    from viz.access import attention, findings, models, traces
    from viz.selection.selection import Selection
    from viz.server import limits

    # Of servers that were killed: as many bytes as their models.
    remove_left(Path(gettempdir()))
    if (cache := limits.cache_folder("models")) is not None:
        remove_left(cache / "gguf")
    opened = Selection()
    try:
        if not models.is_small_and_ours(opened.model):
            return
        reader = models.reader(opened.model)
        trace = traces.trace(reader, opened.common.text)
    except HeadlightError:
        return
    findings.finding(trace, opened.model)
    for site in trace.sites:
        attention.head_tiles(trace, reader, site)
        findings.of_model(opened.model, site)
