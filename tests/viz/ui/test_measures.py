"""Ways to read a head, as they are explained."""

import pytest

from viz.text.sites import CROSS, DECODER, ENCODER
from viz.ui.measures import MEASURES


@pytest.mark.parametrize("name", MEASURES)
def test_what_means_something_else_at_cross_attention_is_explained_so_there_and_nowhere_else(name: str) -> None:
    measure = MEASURES[name]
    own, at_cross = (measure.meaning, measure.formula), (measure.cross_meaning, measure.cross_formula)
    assert measure.explained_at(ENCODER) == measure.explained_at(DECODER) == own
    assert measure.explained_at(CROSS) == (at_cross if name == "rollout" else own)
