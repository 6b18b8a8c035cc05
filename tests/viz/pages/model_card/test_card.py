"""Sections of a model's card."""

from viz.pages.model_card import tabs


def test_a_section_ends_at_the_next_heading_and_its_lines_are_joined() -> None:
    text = "# t\n\n## What to expect\n\none\ntwo\n\nthree\n```sh\n# no heading\n```\n\n## Else\n\nfour\n"
    assert tabs.card_section(text, "What to expect") == ["one two", "three ```sh # no heading ```"]
    assert tabs.card_section(text, "Nothing") == []
