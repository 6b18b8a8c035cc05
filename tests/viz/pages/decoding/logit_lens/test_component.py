"""Cells of the logit lens, and which step the browser may send."""

import pytest

from tests.viz.pages.decoding.opening import TEXT, header_of
from tests.viz.reading import traced
from viz.access import models
from viz.pages.decoding.logit_lens import data
from viz.pages.decoding.logit_lens.component import level_names, pack_lens, read_step
from viz.selection.selection import Selection


def test_cells_hold_the_five_best_and_mark_what_was_written(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = data.logit_lens(trace, models.writer(chosen.model))
    header = header_of(pack_lens(lens, trace.target_tokens, step=2, name="x"))
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
def test_what_a_browser_should_not_send_is_no_step(sent: object) -> None:
    assert read_step(sent, 4) is None


def test_a_step_that_the_browser_sends_is_read() -> None:
    assert read_step({"step": 3}, 4) == 3
