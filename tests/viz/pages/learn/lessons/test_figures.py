"""Bars of lessons: what is written at them."""

import numpy as np

from viz.pages.learn.lessons.pictures import Bars, Curves, bars, curves
from viz.text import messages
from viz.text.messages import said


def test_a_spread_is_written_behind_its_bar_and_one_that_nobody_knows_is_not() -> None:
    spread = np.array([0.5, np.nan])
    picture = Bars(labels=["a", "b"], series={"BLEU": np.array([12.0, 9.0])}, number="BLEU", digits=1, spread=spread)
    bar, written = bars(picture).data
    assert list(bar.error_x.array) == [0.5, 0.0]
    assert [text.strip() for text in written.text] == ["12.0 ± 0.5", "9.0"]
    assert list(written.x) == [12.5, 9.0]


def test_bars_and_curves_are_named_in_the_language_of_the_page() -> None:
    english, chinese = said("Encoder self-attention"), "编码器自注意力"
    values = np.array([0.5, 1.0])
    with messages.speaking("zh"):
        of_bars = bars(Bars(labels=[english, "▁of"], series={english: values}, number=english))
        of_curves = curves(Curves(x=values, lines={english: values}, x_name=english, y_name=english))
    assert list(of_bars.layout.yaxis.ticktext) == [chinese, "▁of"]
    assert {of_bars.data[0].name, of_curves.data[0].name} == {chinese}
    assert {figure.layout.xaxis.title.text for figure in (of_bars, of_curves)} == {chinese}
    assert of_curves.layout.yaxis.title.text == chinese
    assert chinese in of_bars.data[0].hovertemplate
    assert chinese in of_curves.data[0].hovertemplate
