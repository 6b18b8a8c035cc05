"""The names of attention sites."""

from model.nn.encoder_decoder import SITES
from viz.text import sites


def test_the_sites_are_those_of_the_model_in_its_order() -> None:
    assert tuple(SITES) == sites.SITES


def test_a_head_is_named_from_one_and_with_its_site_where_several_stand_together() -> None:
    assert sites.head_label(3, 1) == "L4 H2"
    assert sites.head_label(3, 1, sites.CROSS) == "cross L4 H2"
    assert sites.head_label(3, None) == "L4, all heads"


def test_no_two_sites_share_a_name() -> None:
    for kind in ("label", "phrase", "short", "tag"):
        assert len({getattr(names, kind) for names in sites.NAMES.values()}) == len(sites.SITES)
