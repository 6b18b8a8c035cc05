"""Names, rankings and rank correlations of heads."""

import math

import numpy as np
import pytest

from model.analysis.metrics.head_names import HeadName, all_heads, check_heads, rank_correlation, ranked
from model.errors import EditError

HEADS = dict.fromkeys(("encoder.self", "decoder.self", "decoder.cross"), (4, 4))


def test_all_heads_come_in_the_order_of_a_table() -> None:
    table = np.arange(3 * 2 * 4).reshape(3, 2, 4)
    names = list(all_heads(HEADS))
    sites = ["encoder.self", "decoder.self", "decoder.cross"]
    assert [table[sites.index(name.site), name.layer, name.head] for name in names] == list(range(24))


@pytest.mark.parametrize("name", [("decoder.cross", 2, 0), ("encoder.self", 0, 4), ("encoder.cross", 0, 0)])
def test_a_head_that_does_not_exist_is_named(name: tuple[str, int, int]) -> None:
    with pytest.raises(EditError, match="There is no head"):
        check_heads(HEADS, [HeadName(*name)])


def test_ranking_goes_downwards_and_leaves_out_what_has_no_metric() -> None:
    values = np.array([[[0.5, -2.0]], [[np.nan, 3.0]], [[0.5, 1.0]]])
    assert [(name, value) for name, value in ranked(values)] == [
        (("decoder.self", 0, 1), 3.0),
        (("decoder.cross", 0, 1), 1.0),
        (("encoder.self", 0, 0), 0.5),
        (("decoder.cross", 0, 0), 0.5),
        (("encoder.self", 0, 1), -2.0),
    ]


def test_rank_correlation_by_hand() -> None:
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: ρ = 1 − 6 · Σd² / (n (n² − 1)) = 1 − 6 · 4 / 120.
    assert rank_correlation([10, 20, 30, 40, 50], [2, 1, 4, 3, 5]) == pytest.approx(0.8)
    # Ranks 1, 2½, 2½, 4 and 1, 3, 2, 4: deviations −1½ 0 0 1½ and −1½ ½ −½ 1½.
    assert rank_correlation([1, 7, 7, 9], [0, 5, 3, 8]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_rank_correlation_sees_the_order_only_and_skips_what_is_unknown() -> None:
    first = np.array([[0.1, np.nan], [0.4, 2.0]])
    assert rank_correlation(first, np.exp(first)) == pytest.approx(1.0)
    assert rank_correlation(first, [[5.0, 9.0], [np.nan, -3.0]]) == pytest.approx(-1.0)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [2.0]), ([1.0, 2.0], [3.0, 3.0])])
def test_where_nothing_can_be_ranked_there_is_no_correlation(first: list[float], second: list[float]) -> None:
    assert math.isnan(rank_correlation(first, second))
