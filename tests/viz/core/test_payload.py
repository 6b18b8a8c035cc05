import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.core.fingerprint import digest
from viz.core.payload import FULL, pack, sqrt_uint16
from viz.core.token_text import display_token


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


def test_a_digest_tells_other_contents_and_other_boundaries_apart() -> None:
    a, b = np.arange(4, dtype=np.uint16), np.arange(1, 5, dtype=np.uint16)
    assert digest("ab", a) == digest("ab", a.copy())
    assert len({digest("ab", a), digest("ab", b), digest("a", "b", a), digest("b", "a", a)}) == 4


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("▁animal", "▁animal"),
        ("</s>", "</s>"),
        ("<0xF0>", "<0xF0>"),
        ("😀", "😀"),
        ("שלום", "שלום"),
        ("é", "é"),
        ("\x00", "␀"),
        ("a\tb\n", "a␉b␊"),
        ("\x7f", "␡"),
        ("\x85", "\\u0085"),
        ("a b", "a␣b"),
        ("\u00a0", "\\u00a0"),
        ("\u202eevil", "\\u202eevil"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\u200b", "\\u200b"),
        ("\ufeff", "\\ufeff"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\ue000", "\\ue000"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164", "\\u3164"),
        ("\u0301", "◌\u0301"),
        ("\ufe0f", "\\ufe0f"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("", "∅"),
    ],
)
def test_every_character_of_a_token_is_visible_and_none_reorders_the_text(token: str, shown: str) -> None:
    assert display_token(token) == shown


def test_no_shown_token_holds_a_control_or_bidirectional_character() -> None:
    for code in [*range(0x3000), 0xFEFF, 0xE0001]:
        shown = display_token(chr(code))
        assert shown.strip(), hex(code)
        assert not any(
            mark in shown for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        )
        assert all(ord(character) >= 0x20 for character in shown)
