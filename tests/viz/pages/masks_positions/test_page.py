"""The page of masks and positions opens for any sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy
from tests.viz.pages.masks_positions.opening import at_positions, opened


@pytest.mark.parametrize("text", ["x", "Hi.", "The cat sleeps. " * 4, "החתול ישן", "😀", "<b>x</b>"])
def test_any_sentence_has_its_masks_and_positions(app: AppTest, text: str) -> None:
    at_positions(app, text=text)
    healthy(app.segmented_control(key="side").set_value("target").run())
    app.get_by_key("masks_tab")
    healthy(opened(app, part="Masks"))
