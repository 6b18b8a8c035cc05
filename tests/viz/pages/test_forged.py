"""A slice of `python -m tests.benchmarks.forged`: values that widgets cannot have, on a page with many of them."""

from pathlib import Path

import pytest

from tests.benchmarks import forged
from viz.selection.catalogue import ROOT_VARIABLE

SENT = {"string_value": (forged.STALE,), "double_array_value": ((-1.0,),), "json_value": forged.JSON[3:5]}


VIEWS = [
    next(forged.views()),
    forged.View("viz/pages/decoding/page.py", "Branches"),
    forged.View("viz/pages/paper/page.py", "Table 1"),
]


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_a_value_that_a_widget_cannot_have_changes_nothing(
    view: forged.View, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    tried = list(forged.problems_of(view, SENT))
    assert tried
    assert not [problem for _, problem in tried if problem]
