"""The tab of branches opened, and what it was sent."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, opened

TEXT = "Tom was late again."


def decoding(tab: str = "Branches", **params: str) -> AppTest:
    return opened(app_of(**{"text": TEXT, "studio": tab, **params}), "decoding")


def header(payload: bytes) -> dict[str, Any]:
    length = int.from_bytes(payload[:4], "little")
    return json.loads(payload[4 : 4 + length])
