"""Run the app as a person opens it: at one of its pages, with an address; nothing may go wrong."""

import time
from collections.abc import Callable

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from model import BeamTree, Trace
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.sent import unlinked
from viz.access import models, traces
from viz.pages.decoding.data import searches
from viz.selection.selection import PAGES, Selection
from viz.ui import long_work


def app_of(**params: object) -> AppTest:
    """The app, not run yet, with these parameters in its address; what is drawn behind a button of settings is open."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    for popover in ("settings", "open-head-more", "sampling-settings", "mark-words"):
        app.session_state[popover] = True
    for name, value in params.items():
        app.query_params[name] = str(value)
    return app


def folder_of(page: str) -> str:
    """The name of a page's folder, by the path of its script."""
    return page.split("/")[-2]


def run_page(app: AppTest, page: str) -> AppTest:
    """Run a page, by the name of its folder."""
    return run_address(app, next(known.address for section, known in PAGES.items() if section == page))


def run_address(app: AppTest, address: str) -> AppTest:
    """Run the page of an address as a person opens it: without a run of the first page before."""
    # `AppTest.switch_page` only knows the pages of a run before.
    app._page_hash = calc_hash(address)
    return app.run()


def opened(app: AppTest, page: str = "attention", **params: object) -> AppTest:
    """The same with these parameters in the address; nothing may go wrong."""
    for name, value in params.items():
        app.query_params[name] = str(value)
    return healthy(run_page(app, page))


def healthy(app: AppTest) -> AppTest:
    """The same app, which shows neither a traceback nor an error."""
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def until(app: AppTest, is_there: Callable[[AppTest], object]) -> AppTest:
    """Run the page again and again until what a job gives is on it."""
    last = time.monotonic() + PATIENCE
    while not is_there(healthy(app)):
        assert time.monotonic() < last, "it never came"
        time.sleep(0.05)
        app.run()
    return app


def said(app: AppTest) -> str:
    """All that the page says, as people read it."""
    shown = (*app.caption, *app.markdown, *app.html, *app.info, *app.warning, *app.error)
    return " ".join(as_read(str(one.value)) for one in shown)


def traced(text: str, selection: Selection) -> Trace:
    """The trace of a text, or of a given file, by the model of a selection."""
    return traces.trace(models.text_reader(selection.model), text)


def tree_of(text: str, selection: Selection) -> BeamTree:
    """The tree of the beam search of a selection."""
    return long_work.in_this_thread(searches.searching(models.writer(selection.model), text, selection.decoding))


def as_read(text: str) -> str:
    """A text of the page as a person reads it: a term's link is its word."""
    return unlinked(text).replace("\\", "")
