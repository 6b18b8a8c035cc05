"""A bias that depends on distance only, as one row of numbers per head."""

import pytest
import torch

from model.nn.score_functions import DistanceBias, distance_bias


def alibi(queries: int, keys: int, heads: int = 3) -> torch.Tensor:
    """slope · (key − query), the queries being the last of the keys."""
    slopes = torch.tensor([2.0**-head for head in range(heads)])
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None] - (keys - queries)
    return slopes[:, None, None] * distance


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (1, 4), (3, 7), (1, 1), (300, 300)])
def test_rows_of_the_table_are_those_of_the_bias(queries: int, keys: int) -> None:
    bias = alibi(queries, keys)
    found = distance_bias(bias)
    assert found is not None
    assert found.table.numel() == 3 * (queries + keys - 1)
    assert (found.num_queries, found.num_keys) == (queries, keys)
    assert torch.equal(found.rows(range(3)), bias)
    assert torch.equal(found.rows([2, 0], [queries - 1]), bias[[2, 0]][:, [queries - 1]])


def test_one_number_that_is_not_of_its_distance_is_noticed() -> None:
    bias = alibi(6, 6)
    bias[1, 3, 2] += 1e-3
    assert distance_bias(bias) is None


def test_more_rows_than_keys_have_no_table() -> None:
    assert distance_bias(torch.zeros(2, 5, 3)) is None


def test_a_table_goes_to_another_device() -> None:
    moved = DistanceBias(torch.zeros(2, 5), 3).to(torch.device("meta"))
    assert moved.table.device.type == "meta"
