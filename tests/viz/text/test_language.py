"""Which language a text is in."""

import pytest

from viz.selection.examples import EXAMPLES
from viz.text.language import other_language


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Die Katze schläft auf dem Bett.", "German"),
        ("Wir gehen nach Hause, weil es regnet.", "German"),
        ("Le chat dort sur le lit.", "French"),
        ("猫在床上睡觉。", "Chinese"),
        ("Кошка спит на кровати.", "Russian"),
    ],
)
def test_another_language_is_named(text: str, name: str) -> None:
    assert other_language(text, "en") == name


@pytest.mark.parametrize(
    "text",
    [
        *(example.text for example in EXAMPLES),
        "It is late.",
        "Tom.",
        "Schadenfreude",
        "The Zeitgeist of the Kindergarten was wanderlust.",
        "Angela Merkel met Emmanuel Macron in Paris.",
        "Buffalo buffalo Buffalo buffalo",
        "x = 3 + y",
        "😀 😀",
        "",
    ],
)
def test_english_and_what_could_be_any_language_is_left_alone(text: str) -> None:
    assert other_language(text, "en") == ""


def test_german_is_no_other_language_where_german_is_expected() -> None:
    assert other_language("Die Katze schläft auf dem Bett.", "de") == ""
