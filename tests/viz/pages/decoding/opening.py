"""The decoding page on the tests' tiny checkpoint, opened at one of its tabs, and what it sent to the browser."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.sent import unpack

TEXT = "Tom was late."


def app_at(tab: str) -> AppTest:
    """The app, not run yet, whose address asks for a tab of the decoding page."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["text"] = TEXT
    app.query_params["studio"] = tab
    return app


def opened(app: AppTest, **params: int | str) -> AppTest:
    """Run the decoding page with these parameters in its address; nothing may go wrong."""
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    app.switch_page("viz/pages/decoding/page.py").run()
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def header_of(payload: bytes) -> dict[str, Any]:
    """The header of what a component was sent."""
    return unpack(payload)[0]
