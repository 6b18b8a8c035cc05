"""The parts of a file of formulas."""

from viz.core.formula_files import Formula, formulas


def test_each_part_has_its_title_its_formula_and_its_text_in_one_line() -> None:
    content = "## One\n\n$$\na = b\n$$\n\nFirst line\nand second.\n\n##\n\n$$\nc\n$$\n\nNo title.\n"
    assert list(formulas(content)) == [
        Formula("One", "a = b", "First line and second."),
        Formula("", "c", "No title."),
    ]
