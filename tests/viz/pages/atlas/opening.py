"""The page of the atlas opened, measured, and what it shows."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from viz.pages.atlas import data
from viz.ui import long_work

OWN = (
    "Tom told me.",
    "She read it, and they read it.",
    "A man walks.",
    "He was late.",
    "No.",
    "The dog <b>is</b> old.",
)
GOLD = json.dumps({"en": ["tom", "told"], "de": ["tom", "sagte"], "sure": [[0, 0], [1, 1]]}).encode()


def forget() -> None:
    """Forget what was measured, as a server that begins."""
    data._atlases.clear()
    long_work._results.clear()


def opened(app: AppTest, **params: int | str) -> AppTest:
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    return healthy(app.switch_page("viz/pages/atlas/page.py").run())


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def maps(app: AppTest) -> dict[str, Any]:
    (element,) = app.get("bidi_component")
    payload = element.proto.bytes
    length = int.from_bytes(payload[:4], "little")
    return json.loads(payload[4 : 4 + length])


def sentences(app: AppTest) -> list[Button]:
    return [button for button in app.button if (button.key or "").startswith("atlas-sentence")]
