"""What a component on a page was sent, read as the browser reads it."""

import base64
import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from viz.pictures.component import Component
from viz.pictures.payload import pack


def unpack(payload: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What payload.js does, in Python: the header and the arrays."""
    (length,) = struct.unpack("<I", payload[:4])
    header = json.loads(payload[4 : 4 + length])
    arrays, start = [], 4 + length
    for name, count in header["arrays"]:
        dtype = np.dtype(name).newbyteorder("<")
        arrays.append(np.frombuffer(payload, dtype, count, start))
        start += count * dtype.itemsize
    assert start == len(payload)
    return header, arrays


def sent_to(app: AppTest, component: str) -> list[tuple[dict[str, Any], list[np.ndarray]]]:
    """The payloads of every component of this name on the page, in order."""
    assert not app.exception, app.exception[0].value
    found = [element.proto for element in app.get("bidi_component")]
    return [unpack(proto.bytes) for proto in found if proto.component_name == f"headlight_{component}"]


def charts(app: AppTest) -> list[dict[str, Any]]:
    """The plotly figures on the page, in order."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def numbers_of(heatmap: dict[str, Any]) -> np.ndarray:
    """The numbers of a heatmap, which plotly may have packed."""
    return numbers(heatmap["z"])


def numbers(values: Any) -> np.ndarray:
    """Numbers of a figure, which plotly may have packed."""
    if not isinstance(values, dict):
        return np.asarray(values)
    unpacked = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return unpacked.reshape(tuple(map(int, values["shape"].split(",")))) if "shape" in values else unpacked


@dataclass(frozen=True)
class Shown:
    """A component that a page showed: what it was sent, and what is called with the browser's answers."""

    header: dict[str, Any]
    arrays: list[np.ndarray]
    answers: dict[str, Callable[[object], None]]


def caught(monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    """From now on, what components show, in order; nothing reaches Streamlit."""
    shown: list[Shown] = []

    def show(
        self: Component, content: object, *arrays: Any, key: str, width: Any = "", more: Any = None, **answers: Any
    ) -> Any:
        shown.append(Shown(*unpack(pack(content, *arrays, **(more or {}))), answers))
        return SimpleNamespace(view=None)

    monkeypatch.setattr(Component, "show", show)
    return shown


def unlinked(markdown: str) -> str:
    """Markdown as people read it: with the names of heads, and terms that are explained, as text."""
    return re.sub(r"\[([^\[\]]*)\]\(#(?:head|term)-[^\s)]*(?: \"[^\"]*\")?\)", r"\1", markdown)
