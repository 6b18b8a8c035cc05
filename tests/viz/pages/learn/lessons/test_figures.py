"""Bars of lessons: what is written at them."""

import numpy as np

from viz.pages.learn.lessons.figures import bars
from viz.pages.learn.lessons.pictures import Bars


def test_a_spread_is_written_behind_its_bar_and_one_that_nobody_knows_is_not() -> None:
    spread = np.array([0.5, np.nan])
    picture = Bars(labels=["a", "b"], series={"BLEU": np.array([12.0, 9.0])}, number="BLEU", digits=1, spread=spread)
    bar, written = bars(picture).data
    assert list(bar.error_x.array) == [0.5, 0.0]
    assert [text.strip() for text in written.text] == ["12.0 ± 0.5", "9.0"]
    assert list(written.x) == [12.5, 9.0]
