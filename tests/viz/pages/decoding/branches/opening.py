"""The tab of branches opened, and what it was sent."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.paths import ROOT

TEXT = "Tom was late again."


def decoding(tab: str = "Branches", **params: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"text": TEXT, "studio": tab, **params}.items():
        app.query_params[name] = value
    app.run()
    return healthy(app.switch_page("viz/pages/decoding/page.py").run())


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def header(payload: bytes) -> dict[str, Any]:
    length = int.from_bytes(payload[:4], "little")
    return json.loads(payload[4 : 4 + length])
