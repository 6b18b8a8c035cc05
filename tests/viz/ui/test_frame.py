"""What stands around every figure."""

import pytest

from viz.selection.selection import Selection
from viz.ui.frame import chart_config


def test_a_chart_config_changes_nothing_but_the_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.selection.state.current", lambda: Selection().changed(picture_format="PNG"))
    assert chart_config("a")["toImageButtonOptions"] == {"format": "png", "filename": "a", "scale": 2}
    assert chart_config("a")["displaylogo"] is False
