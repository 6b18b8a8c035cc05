"""A browser that sends values of a wrong kind gets the page as it was, and the log a line, on the real wire."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.benchmarks.wire_viewer import Run, WireViewer, finished
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT

#: Kind → what is sent.
VALUES: dict[str, Any] = {
    "int_value": 3,
    "double_value": float("nan"),
    "bool_value": True,
    "string_value": "no such option",
    "json_value": json.dumps({"selection": [3], "view": "x", "head": 7}),
    "json_trigger_value": json.dumps([{"event": "head", "value": 3}, 4, {"event": []}]),
    "bytes_value": b"\xff",
}


def of_each_kind(widget: str) -> Iterator[WidgetState]:
    for kind, value in VALUES.items():
        yield WidgetState(**{"id": widget, kind: value})
    for kind, values in {"double_array_value": [1e300], "int_array_value": [-1], "string_array_value": ["x"]}.items():
        state = WidgetState(id=widget)
        getattr(state, kind).data.extend(values)
        yield state
    yield WidgetState(id=widget)


async def answers(url: str, page: str) -> list[tuple[str, Run]]:
    """What comes of each kind, sent to every widget of a page at once; in the end, of a run as it should be."""
    async with WireViewer(url) as viewer:
        await viewer.open(page, {})
        widgets = [place.id for place in viewer.places.values()]
        assert len(widgets) > 10
        runs = []
        for states in zip(*map(of_each_kind, widgets), strict=True):
            runs.append((str(states[0].WhichOneof("value")), await viewer.send(*states)))
        runs.append(("nothing", await viewer.send()))
    # A tab that comes back to a server sends what it has before there is any widget.
    async with WireViewer(url) as viewer:
        numbers = [WidgetState(id=widget, int_value=3) for widget in widgets]
        return [*runs, ("before", await viewer.send(*numbers))]


@pytest.mark.long
@pytest.mark.parametrize("page", ["", "decoding"])
def test_the_page_stays_as_it_was(
    page: str, checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    log = tmp_path / "log"
    with streamlit_server(ROOT / "app.py", (), log) as url:
        runs = finished(answers(url, page))
    for kind, run in runs:
        # A field without a value is one that a person has emptied.
        problems = [
            said
            for said in run.problems
            if kind not in ("None", "nothing") or not said.startswith("The sentence is empty")
        ]
        assert (kind, problems, run.title > 0) == (kind, [], True)
    said = [line for line in log.read_text(encoding="utf-8").splitlines() if "Dropped" in line]
    assert 0 < len(said) <= len(runs)
    assert "Traceback" not in log.read_text(encoding="utf-8")
