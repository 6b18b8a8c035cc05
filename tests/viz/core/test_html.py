"""Tables of text that nobody need trust."""

import pytest

from viz.core.html import Column, literal, table

HOSTILE = "<img src=https://evil.example/a.png> ![x](https://evil.example/b.png) \" onload='x"


def test_a_table_shows_every_text_literally() -> None:
    clean = table([Column("a"), Column("b")], [("c", "d")], label="e")
    hostile = table([Column(HOSTILE), Column(HOSTILE)], [(HOSTILE, HOSTILE)], label=HOSTILE)
    assert hostile.count("<") == clean.count("<")
    assert hostile.count('"') == clean.count('"')


def test_control_characters_are_shown_as_signs() -> None:
    assert literal("a\x00b\n") == "a␀b␊"


def test_a_row_of_another_length_is_a_programmers_mistake() -> None:
    with pytest.raises(AssertionError):
        table([Column("a")], [("b", "c")], label="d")
