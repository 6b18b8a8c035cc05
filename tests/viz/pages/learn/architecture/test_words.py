"""Every box leads to a page that exists, with choices that the selection knows."""

import pytest

from tests.paths import ROOT
from viz.pages.learn.architecture.data import Shape
from viz.pages.learn.architecture.tab import BOXES, Opened, lead, notes
from viz.pictures.payload import read
from viz.selection.selection import FIELDS, Selection


@pytest.mark.parametrize("layer", [-1, 2])
@pytest.mark.parametrize("box", BOXES)
def test_a_box_leads_to_a_page_with_choices_that_can_be(box: str, layer: int) -> None:
    found = lead(box, layer, 4 if box.startswith("decoder") else -1)
    assert (ROOT / "viz" / "pages" / found.page / "page.py").is_file()
    assert all(FIELDS[name].can_be(value) for name, value in found.choices.items())
    Selection().changed(**found.choices)


def test_an_attention_leads_to_its_own_site_in_the_layer_of_the_film() -> None:
    choices = lead("decoder.cross", 3, 5).choices
    assert (choices["site"], choices["layer"]) == ("decoder.cross", 3)
    assert "layer" not in lead("encoder.self", -1, -1).choices


@pytest.mark.parametrize(("width", "said"), [(32, "4 heads of 8"), (30, "4 heads"), (None, "4 heads")])
def test_a_box_of_attention_says_how_wide_a_head_is_where_all_are_equally_wide(width: int | None, said: str) -> None:
    shape = Shape(0, 2, (("decoder.self", 4),), width, 64, 370, "pre", True, False, True, "sinusoidal", True, True)
    assert notes(shape, "decoder")["self"] == said


def test_a_norm_leads_to_its_layer_of_the_followed_token() -> None:
    choices = lead("decoder.cross_norm", 1, 6).choices
    assert (choices["followed_stack"], choices["followed_token"], choices["followed_stage"]) == ("decoder", 6, 2)


WRONG: list[object] = [
    None,
    {},
    {"box": "encoder.cross", "layer": 0, "row": 0},
    {"box": "decoder.self", "layer": True, "row": 0},
    {"box": "decoder.self", "layer": 0, "row": -2},
    {"box": ["decoder.self"], "layer": 0, "row": 0},
]


@pytest.mark.parametrize("value", WRONG)
def test_what_no_map_could_send_opens_nothing(value: object) -> None:
    assert read(Opened, value) is None


def test_a_box_that_was_clicked_is_read() -> None:
    assert read(Opened, {"box": "decoder.self", "layer": 0, "row": 3}) == Opened("decoder.self", 0, 3)
