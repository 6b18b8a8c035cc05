"""The logit lens: its cells, which step the browser may send, and that its last row is what the model said."""

import pytest

from tests.viz.page_run import traced
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.sent import caught, unpack
from viz.access import models
from viz.pages.decoding.data import searches
from viz.pages.decoding.logit_lens.tab import LensTable, lens_table, level_names
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import pack
from viz.selection.selection import Selection

WRITTEN = FocusAxis("target", ahead=1)


def test_the_last_level_is_what_the_model_said_and_a_deviation_is_the_largest_difference_of_any_step(
    chosen: Selection,
) -> None:
    trace = traced(TEXT, chosen)
    lens = searches.logit_lens(trace, models.writer(chosen.model))
    assert searches.deviation(trace, lens) < 1e-5
    assert tuple(best[0] for best in lens.tokens[-1]) == trace.predicted_tokens
    # A deviation is the largest difference of any step.
    probabilities = lens.probabilities.clone()
    probabilities[-1, 1, 0] += 0.25
    changed = type(lens)(**{**vars(lens), "probabilities": probabilities})
    assert searches.deviation(trace, changed) == pytest.approx(0.25, abs=1e-5)


def test_another_translation_of_the_same_text_has_a_lens_of_its_own(chosen: Selection) -> None:
    own = traced(TEXT, chosen)
    session = models.translator(chosen.model).decode(TEXT)
    session.force(own.steps[0].token_id + 1)
    session.run()
    forced = session.trace()
    lens = searches.logit_lens(forced, models.writer(chosen.model))
    assert lens.chosen_ids == tuple(step.token_id for step in forced.steps)
    assert lens.chosen_ids != searches.logit_lens(own, models.writer(chosen.model)).chosen_ids
    assert searches.deviation(forced, lens) < 1e-5
    # A forced token is not what the last layer said.
    assert lens.token_ids[-1, 0, 0] != lens.chosen_ids[0]


def test_cells_hold_the_five_best_and_mark_what_was_written(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = searches.logit_lens(trace, models.writer(chosen.model))
    header = unpack(pack(LensTable.of(lens, trace.target_tokens, WRITTEN, step=2, name="x")))[0]
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
    lens_table(LensTable([], list("abcd"), [], [], WRITTEN, 0, "x"), on_choose=steps.append, key="lens")
    shown[0].answers["step"](sent)
    assert steps == []
    shown[0].answers["step"]({"step": 3})
    assert steps == [3]
