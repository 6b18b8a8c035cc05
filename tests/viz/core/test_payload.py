import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.core.payload import FULL, pack, sqrt_uint16, with_language


def test_a_payload_is_header_length_header_and_arrays() -> None:
    header, arrays = unpack(
        pack({"tokens": ["▁müde", "😀"]}, np.arange(3, dtype=np.uint8), np.arange(5, dtype=np.uint16))
    )
    assert header == {"tokens": ["▁müde", "😀"], "arrays": [["uint8", 3], ["uint16", 5]]}
    assert [array.tolist() for array in arrays] == [[0, 1, 2], [0, 1, 2, 3, 4]]


def test_arrays_travel_row_by_row_and_little_endian_whatever_their_layout_in_memory() -> None:
    array = np.asfortranarray(np.arange(6, dtype=">u2").reshape(2, 3))
    _, (sent,) = unpack(pack({}, array))
    assert sent.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_header_leaves_the_language_to_the_page() -> None:
    with pytest.raises(AssertionError, match="with_language"):
        pack({"language": "de"})


def test_the_language_of_the_page_joins_the_header_and_english_adds_nothing() -> None:
    payload = pack({"tokens": ["▁müde"]}, np.arange(3, dtype=np.uint8))
    assert with_language(payload, "") == payload
    header, (array,) = unpack(with_language(payload, '{"code": "zh", "text": "注意"}'))
    assert header == {"language": {"code": "zh", "text": "注意"}, "tokens": ["▁müde"], "arrays": [["uint8", 3]]}
    assert array.tolist() == [0, 1, 2]


def test_a_header_with_nan_is_refused_because_javascript_cannot_read_it() -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack({"entropy": float("nan")})


def test_three_decimals_of_every_weight_survive() -> None:
    weights = np.linspace(0, 1, 100_001)
    stored = sqrt_uint16(weights)
    assert stored.dtype == np.uint16
    assert np.abs((stored / FULL) ** 2 - weights).max() < 2e-5


def test_rounding_errors_outside_the_range_are_cut_off() -> None:
    assert sqrt_uint16(np.array([-1e-7, 0.0, 1.0, 1.0 + 1e-6])).tolist() == [0, 0, FULL, FULL]
