"""Values of unknown origin, and texts for a model: each is taken up to its bound, and one beyond it is refused."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from model import checked
from model.checked import Malformed
from model.errors import InputTextError
from model.input_text import checked_ids


@pytest.mark.parametrize(
    ("read", "taken", "refused"),
    [
        (checked.rows, [[], [0] * 200], [[0] * 201, "rows", None]),
        (checked.text, ["", "x" * 4_000], ["x" * 4_001, "\ud800", 5]),
        (checked.count, [0, 10**12], [-1, 10**12 + 1, True, 1.0]),
        (checked.number, [-1e15, 0, 1e15], [-1.1e15, 1.1e15, False, "1"]),
        (checked.scalar, ["x" * 4_000, True, 1e15], ["x" * 4_001, 1.1e15, None]),
    ],
)
def test_a_value_is_taken_up_to_its_bounds_and_not_beyond(
    read: Callable[[object, str], object], taken: list[object], refused: list[object]
) -> None:
    for value in taken:
        assert read(value, "it") is value
    for value in refused:
        with pytest.raises(Malformed, match="it must be"):
            read(value, "it")


@dataclass(frozen=True)
class Row:
    name: str
    share: float = 0.5


def test_a_field_is_held_to_its_own_range() -> None:
    half = ("at most a half", lambda value: value <= 0.5)
    assert checked.record(Row, {"name": "a", "share": 0.25, "more": 1}, "row", share=half) == Row("a", 0.25)
    assert checked.record(Row, {"name": "a"}, "row", share=half) == Row("a")
    with pytest.raises(Malformed, match=r"row\.share must be at most a half, got 0\.75"):
        checked.record(Row, {"name": "a", "share": 0.75}, "row", share=half)


def test_a_text_is_read_up_to_its_limit_and_one_of_far_more_characters_is_not_even_cut_into_tokens() -> None:
    def encode(text: str) -> list[int]:
        assert len(text) <= 300
        return [5] * text.count("a")

    assert checked_ids("a a a" + "x" * 295, "It", 3, encode) == [5, 5, 5]
    with pytest.raises(InputTextError, match=r"at most 3 tokens; the text has 4 \(7 characters\)"):
        checked_ids("a a a a", "It", 3, encode)
    with pytest.raises(InputTextError, match=r"has far more \(301 characters\)"):
        checked_ids("x" * 301, "It", 3, encode)
    with pytest.raises(InputTextError, match="It contains only invisible characters"):
        checked_ids("x" * 300, "It", 3, encode)
