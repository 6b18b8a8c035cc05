"""A folder with a model of every kind, the app that opens it, and what a person does to choose one of them."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import run_page

#: Model of `tests.model.adapters.zoo` → its tokenizer.
MODELS = {"bert": "wordpiece", "gpt2": "bytes", "t5": "metaspace", "mpnet": "wordpiece"}


def opened(app: AppTest, name: str, page: str = "attention") -> AppTest:
    """Run a page with a model of the list."""
    app.query_params["checkpoint"] = name
    run_page(app, page)
    assert not app.exception, app.exception[0].value
    return app


def add(app: AppTest, folder: Path | str) -> AppTest:
    """Type a folder and click "Add"."""
    app.text_input(key="add/folder").set_value(str(folder))
    next(button for button in app.button if button.label == "Add").click().run()
    assert not app.exception, app.exception[0].value
    return app
