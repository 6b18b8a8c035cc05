"""What pages list without loading torch is what the model has."""

from typing import get_args

from model.analysis.interventions import parts_off
from model.analysis.layer_kinds import kinds
from model.analysis.scoring import costs, saturation
from viz.pages.why_attention.live_switches import data as live_switches
from viz.pages.why_attention.live_switches.tab import PAPER
from viz.pages.why_attention.scores import data as scores
from viz.pages.why_attention.table_one import data as table_one


def test_the_lists_of_the_page_are_those_of_the_model() -> None:
    assert scores.NAMES == saturation.NAMES
    assert scores.WIDTHS == saturation.WIDTHS
    assert scores.COSTED == costs.NAMES
    assert get_args(kinds.Kind) == table_one.KINDS
    assert set(live_switches.PARTS) == set(parts_off.PARTS) == set(PAPER)
