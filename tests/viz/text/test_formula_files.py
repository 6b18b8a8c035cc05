"""A file of formulas is read part by part: title, TeX, and what to know of it."""

from viz.ui.formulas import Formula, formulas_in

CONTENT = """## A row

$$
x_i
$$

Its text is broken
over two lines.

##

$$
y
$$

No title.
"""


def test_each_part_has_its_title_its_formula_and_its_text_on_one_line() -> None:
    assert list(formulas_in(CONTENT)) == [
        Formula("A row", "x_i", "Its text is broken over two lines."),
        Formula("", "y", "No title."),
    ]
