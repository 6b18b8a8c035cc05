"""Cells of the logit lens, and which step the browser may send."""

import pytest

from tests.viz.pages.decoding.opening import TEXT
from tests.viz.reading import traced
from tests.viz.sent import caught, unpack
from viz.access import models
from viz.pages.decoding.data import searches
from viz.pages.decoding.logit_lens.tab import LensTable, lens_table, level_names
from viz.pictures.focus import AXES
from viz.pictures.payload import pack
from viz.selection.selection import Selection
from viz.text.sites import CROSS


def test_cells_hold_the_five_best_and_mark_what_was_written(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = searches.logit_lens(trace, models.writer(chosen.model))
    header = unpack(pack(LensTable.of(lens, trace.target_tokens, AXES[CROSS][0], step=2, name="x")))[0]
    assert header["levels"] == level_names(3) == ["Input", "Layer 1", "Layer 2 = output"]
    assert (header["step"], header["read"][0], len(header["cells"])) == (2, "<s>", 3)
    for level, row in enumerate(header["cells"]):
        assert len(row) == len(trace.steps)
        for step, cell in enumerate(row):
            assert len(cell["tokens"]) == 5
            assert cell["probabilities"] == sorted(cell["probabilities"], reverse=True)
            assert cell["probabilities"] == pytest.approx(lens.probabilities[level, step].tolist(), abs=1e-6)
            assert cell["asWritten"] == (lens.token_ids[level, step, 0] == trace.steps[step].token_id)
            assert (cell["rank"] == 1) == cell["asWritten"]
    assert all(cell["asWritten"] for cell in header["cells"][-1])


@pytest.mark.parametrize("sent", [None, 3, {}, {"step": "1"}, {"step": True}, {"step": -1}, {"step": 4}, [1]])
def test_what_a_browser_should_not_send_is_no_step(monkeypatch: pytest.MonkeyPatch, sent: object) -> None:
    shown, steps = caught(monkeypatch), list[int]()
    lens_table(LensTable([], list("abcd"), [], [], AXES[CROSS][0], 0, "x"), on_choose=steps.append, key="lens")
    shown[0].answers["step"](sent)
    assert steps == []
    shown[0].answers["step"]({"step": 3})
    assert steps == [3]
