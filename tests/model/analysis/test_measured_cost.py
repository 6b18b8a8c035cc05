"""What a computation costs: its time, the bytes it holds, and the exponent of its growth."""

import pytest
import torch

from model.analysis.measured_cost import check_memory, fitted_exponent, measure
from model.errors import DataError

CPU = torch.device("cpu")


def test_bytes_are_counted_of_what_is_held_at_once_and_let_go_again() -> None:
    x = torch.zeros(1000)

    def two_at_once() -> torch.Tensor:
        for _ in range(5):
            result = (x + 1) * 2
        return result

    # The last result, the sum and the product: three thousand numbers, however often it is done.
    assert measure(two_at_once, CPU).num_bytes == 3 * 4_000


@pytest.mark.parametrize("exponent", [0.5, 1, 2, 3])
def test_the_exponent_of_a_power_is_found_below_a_fixed_cost(exponent: float) -> None:
    sizes = [16, 32, 64, 128, 256, 512]
    seconds = [max(64.0**exponent, size**exponent) * 1e-9 for size in sizes]
    assert fitted_exponent(sizes, seconds) == pytest.approx(exponent, rel=0.01)


def test_what_does_not_fit_into_memory_is_refused_in_a_sentence() -> None:
    with pytest.raises(DataError, match=r"A million rows needs .* GB at once, but only .* GB are free in memory"):
        check_memory("A million rows", 10**18, CPU)
