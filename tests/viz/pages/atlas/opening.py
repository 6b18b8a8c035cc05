"""The page of the atlas opened, measured, and what it shows."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from tests.viz import page_run
from tests.viz.sent import sent_to
from viz.pages.atlas import data
from viz.ui import long_work

OWN = (
    "Tom told me.", "She read it, and they read it.", "A man walks.", "He was late.", "No.", "The dog <b>is</b> old.",
)  # fmt: skip
GOLD = json.dumps({"en": ["tom", "told"], "de": ["tom", "sagte"], "sure": [[0, 0], [1, 1]]}).encode()


def forget() -> None:
    """Forget what was measured, as a server that begins."""
    data.atlases.clear()
    long_work.results.clear()


def opened(app: AppTest, **params: int | str) -> AppTest:
    return page_run.opened(app, "atlas", **params)


def maps(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "head_maps")
    return header


def sentences(app: AppTest) -> list[Button]:
    return [button for button in app.button if (button.key or "").startswith("atlas-sentence")]
