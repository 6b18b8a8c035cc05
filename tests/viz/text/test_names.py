"""Numbers as people read them, names of sites and of files."""

import re
from math import inf, log

import pytest

from viz.text import written
from viz.text.written import byte_count, file_name, head_name, percent, scientific, times_less


def test_shares_small_numbers_and_chances_are_written_as_people_say_them() -> None:
    assert percent(0.1234) == "12.3%"
    assert scientific(3.4e-7) == "3·10⁻⁷"
    assert scientific(9.6e-6) == "1·10⁻⁵"
    assert scientific(0.0) == "0"
    assert times_less(log(0.0004), log(0.92)) == "2,300 × less"
    assert times_less(log(0.9), log(0.3)) == "3 × more"
    assert times_less(log(0.5), log(0.49)) == times_less(-inf, 0.0) == ""
    assert times_less(-30.0, 0.0) == times_less(-1_000.0, 0.0) == "> 1 million × less"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (3, "1 kB"), (1_600, "2 kB"), (292_000, "292 kB"), (949_999, "950 kB"), (950_000, "0.9 MB"),
        (4_900_000, "4.9 MB"), (9_999_999, "10.0 MB"), (10_000_000, "10 MB"), (123_400_000, "123 MB"),
        (1_340_000_000, "1,340 MB"),
    ],
)  # fmt: skip
def test_sizes_are_rounded_as_people_say_them(count: int, shown: str) -> None:
    assert byte_count(count) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(999, "999"), (1_000, "1.00 k"), (9_994, "9.99 k"), (9_995, "10.0 k"), (99_900, "99.9 k"), (99_950, "100 k"),
     (1e6, "1.00 M"), (1e9, "1.00 G"), (2.5e12, "2.50 T")],
)  # fmt: skip
def test_a_count_has_three_digits_on_both_sides_of_every_step(count: float, shown: str) -> None:
    assert written.amount(count) == shown


def test_a_name_says_what_is_in_the_file() -> None:
    name = file_name(head_name("decoder.cross", 1, 2), sentence="The animal didn't cross the street.")
    assert name == "headlight-decoder-cross-l2h3-the-animal-didnt-cross-the"
    assert file_name("x", sentence="Die Straße für Élise") == "headlight-x-die-strasse-fur-elise"
    assert file_name("x", sentence="החתול ישן 😀") == "headlight-x"
    # As many characters as fit, and no hyphen at the end.
    assert file_name("w" * 999) == f"headlight-{'w' * 80}"
    assert file_name("w" * 79, "and") == f"headlight-{'w' * 79}"


@pytest.mark.parametrize(
    "text",
    [
        "../../etc/passwd", "CON", "a/b\\c:d*e?f", "-rf ~", ".hidden", "a\x00b\nc\u202e", "<img src=x>", "%2e%2e",
        "w" * 999,
    ],
)  # fmt: skip
def test_no_text_makes_a_name_that_a_system_could_take_for_anything_else(text: str) -> None:
    assert re.fullmatch(r"headlight(-[a-z0-9]+)*", file_name(text, sentence=text))
    assert len(file_name(text, sentence=text)) <= 90
