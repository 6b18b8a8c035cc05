import re

import pytest

from viz.text.sites import file_name, head_name


def test_a_name_says_what_is_in_the_file() -> None:
    name = file_name(head_name("decoder.cross", 1, 2), sentence="The animal didn't cross the street.")
    assert name == "headlight-decoder-cross-l2h3-the-animal-didnt-cross-the"


def test_accents_are_written_without_and_other_scripts_left_out() -> None:
    assert file_name("x", sentence="Die Straße für Élise") == "headlight-x-die-strasse-fur-elise"
    assert file_name("x", sentence="החתול ישן 😀") == "headlight-x"


@pytest.mark.parametrize(
    "text",
    [
        "../../etc/passwd",
        "CON",
        "a/b\\c:d*e?f",
        "-rf ~",
        ".hidden",
        "a\x00b\nc\u202e",
        "<img src=x>",
        "%2e%2e",
        "w" * 999,
    ],
)
def test_no_text_makes_a_name_that_a_system_could_take_for_anything_else(text: str) -> None:
    assert re.fullmatch(r"headlight(-[a-z0-9]+)*", file_name(text, sentence=text))
    assert len(file_name(text, sentence=text)) <= 90
