"""What pages list without loading torch is what the model has."""

from typing import get_args

from model.analysis.interventions import parts_off
from model.analysis.layer_kinds import kinds
from model.analysis.scoring import costs, saturation
from viz.pages.paper.data import ablations, claims
from viz.pages.paper.live_switches import PAPER


def test_the_lists_of_the_page_are_those_of_the_model() -> None:
    assert claims.NAMES == saturation.NAMES
    assert claims.WIDTHS == saturation.WIDTHS
    assert claims.COSTED == costs.NAMES
    assert get_args(kinds.Kind) == claims.KINDS
    assert set(ablations.PARTS) == set(parts_off.PARTS) == set(PAPER)
