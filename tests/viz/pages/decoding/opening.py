"""The decoding page on the tests' tiny checkpoint, opened at one of its tabs, and what it sent to the browser."""

from streamlit.testing.v1 import AppTest

from tests.viz import page_run

TEXT = "Tom was late."


def app_at(tab: str) -> AppTest:
    """The app, not run yet, whose address asks for a tab of the decoding page."""
    return page_run.app_of(text=TEXT, studio=tab)


def opened(app: AppTest, **params: int | str) -> AppTest:
    """Run the decoding page with these parameters in its address; nothing may go wrong."""
    return page_run.opened(app, "decoding", **params)
