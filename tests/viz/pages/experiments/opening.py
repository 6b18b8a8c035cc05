"""The page on the paper, at one of its tabs."""

import time
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.patience import PATIENCE
from tests.viz.page_run import as_read, healthy, opened


def at(app: AppTest, claim: str, **choices: object) -> AppTest:
    return opened(app, "experiments", claim=claim, **choices)


def until(app: AppTest, there: Callable[[AppTest], Any]) -> AppTest:
    """Run the page again and again until a job's result is on it."""
    last = time.monotonic() + PATIENCE
    while not there(healthy(app)):
        assert time.monotonic() < last, "the result never came"
        time.sleep(0.05)
        app.run()
    return app


def said(app: AppTest) -> str:
    return " ".join(
        as_read(str(one.value)) for one in (*app.caption, *app.markdown, *app.html, *app.info, *app.warning)
    )


def started(app: AppTest, key: str) -> AppTest:
    return healthy(app.button(key=f"{key}-start").click().run())
