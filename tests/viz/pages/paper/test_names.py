"""What pages list without loading torch is what the model has."""

from typing import get_args

from model.analysis import layer_kinds, scoring
from model.analysis.interventions import parts_off
from viz.pages.paper.data import ablations, claims
from viz.pages.paper.live_switches import PAPER


def test_the_lists_of_the_page_are_those_of_the_model() -> None:
    assert claims.NAMES == scoring.NAMES
    assert claims.WIDTHS == scoring.WIDTHS
    assert claims.COSTED == scoring.MEASURED
    assert get_args(layer_kinds.Kind) == claims.KINDS
    assert set(ablations.PARTS) == set(parts_off.PARTS) == set(PAPER)
