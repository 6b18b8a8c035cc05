"""Masks and positions open for any sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at, at_positions


@pytest.mark.parametrize("text", ["x", "Hi.", "The cat sleeps. " * 4, "החתול ישן", "😀", "<b>x</b>"])
def test_any_sentence_has_its_masks_and_positions(app: AppTest, text: str) -> None:
    at_positions(app, text=text)
    healthy(app.segmented_control(key="side").set_value("target").run())
    at(app, "Masks")
