"""The page on the paper, at one of its tabs."""

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy, opened


def at(app: AppTest, claim: str, **choices: object) -> AppTest:
    return opened(app, "experiments", claim=claim, **choices)


def started(app: AppTest, key: str) -> AppTest:
    return healthy(app.button(key=f"{key}-start").click().run())
