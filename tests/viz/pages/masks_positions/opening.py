"""The page of masks and positions on the tests' tiny checkpoint."""

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy, run_page


def opened(app: AppTest, **choices: int | str) -> AppTest:
    for name, value in choices.items():
        app.query_params[name] = str(value)
    return run_page(app, "masks_positions")


def at_positions(app: AppTest, **choices: int | str) -> AppTest:
    return healthy(opened(app, part="Positional encodings", **choices))
