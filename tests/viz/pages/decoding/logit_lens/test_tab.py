"""The logit lens on its page: of which trace it is, and that its last row is what the model said."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.reading import traced
from tests.viz.sent import sent_to
from viz.access import models
from viz.pages.decoding.data import searches
from viz.pages.decoding.logit_lens.tab import deviation
from viz.selection.selection import Selection


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Logit lens")


def test_the_last_level_is_what_the_model_said(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = searches.logit_lens(trace, models.writer(chosen.model))
    assert deviation(trace, lens) < 1e-5
    assert tuple(best[0] for best in lens.tokens[-1]) == trace.predicted_tokens


def test_a_deviation_is_the_largest_difference_of_any_step(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = searches.logit_lens(trace, models.writer(chosen.model))
    probabilities = lens.chosen_probabilities.clone()
    probabilities[-1, 1] += 0.25
    changed = type(lens)(**{**vars(lens), "chosen_probabilities": probabilities})
    assert deviation(trace, changed) == pytest.approx(0.25, abs=1e-5)


def test_another_translation_of_the_same_text_has_a_lens_of_its_own(chosen: Selection) -> None:
    own = traced(TEXT, chosen)
    session = models.translator(chosen.model).decode(TEXT)
    session.force(own.steps[0].token_id + 1)
    session.run()
    forced = session.trace()
    lens = searches.logit_lens(forced, models.writer(chosen.model))
    assert lens.chosen_ids == tuple(step.token_id for step in forced.steps)
    assert lens.chosen_ids != searches.logit_lens(own, models.writer(chosen.model)).chosen_ids
    assert deviation(forced, lens) < 1e-5
    # A forced token is not what the last layer said.
    assert lens.token_ids[-1, 0, 0] != lens.chosen_ids[0]


def test_the_page_shows_the_table_and_proves_its_last_row(app: AppTest, chosen: Selection) -> None:
    opened(app, step=2)
    header = sent_to(app, "lens_table")[0][0]
    trace = traced(TEXT, chosen)
    assert header["step"] == 2
    assert len(header["cells"][0]) == len(trace.steps)
    assert header["name"] == "headlight-logit-lens-tom-was-late"
    assert "last layer = the model's output" in app.markdown[0].value
    assert not app.info


def test_a_step_that_does_not_exist_becomes_the_last_one_and_the_page_says_so(app: AppTest, chosen: Selection) -> None:
    opened(app, step=999)
    steps = len(traced(TEXT, chosen).steps)
    assert f"names step 1000, but this translation has {steps}" in app.warning[0].value.replace("\\", "")
    assert app.query_params["step"] == str(steps - 1)
    assert sent_to(app, "lens_table")[0][0]["step"] == steps - 1
