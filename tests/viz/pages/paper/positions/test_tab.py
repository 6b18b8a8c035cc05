"""Positions on the page: recorded rows, other settings, numbers out of reach."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at_positions
from tests.viz.reading import traced
from tests.viz.sent import charts
from viz.pages.paper.data.masks_positions import OWN_BASE
from viz.pages.paper.positions import MIN_POSITIONS
from viz.selection.selection import Selection
from viz.ui.controls import BASES

SENTENCE = "The animal was tired."
OWN_WIDTH = 32  # of the checkpoint of the tests


def decoded(trace: dict[str, Any], axis: str) -> np.ndarray:
    array = trace[axis]
    return np.array(array) if isinstance(array, list) else _from_plotly(array)


def _from_plotly(array: dict[str, str]) -> np.ndarray:
    import base64

    values = np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])
    return values.reshape([int(side) for side in array["shape"].split(",")]) if "shape" in array else values


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_matrix_holds_the_recorded_rows_and_the_page_says_so(app: AppTest, side: str) -> None:
    at_positions(app, text=SENTENCE, side=side)
    assert "what the model added" in app.success[0].value
    recorded = traced(SENTENCE, Selection().changed(checkpoint="en-de")).positional[side].numpy()
    shown = decoded(charts(app)[0]["data"][0], "z")
    assert shown.shape == (MIN_POSITIONS, OWN_WIDTH)
    np.testing.assert_array_equal(shown[: len(recorded)], recorded)


@pytest.mark.parametrize("choice", [{"width": 64}, {"base": 100}])
def test_other_settings_are_said_not_to_be_the_models_and_can_be_taken_back(
    app: AppTest, choice: dict[str, int]
) -> None:
    at_positions(app, **choice)
    assert not app.success
    assert "Not what the model added" in app.warning[0].value
    app.session_state["positions-likeness"] = True
    other = charts(app.run())
    healthy(app.button(key="own").click().run())
    assert "what the model added" in app.success[0].value
    assert charts(app)[0] != other[0]
    assert charts(app)[-1] == other[-1]  # embedding + position is always the model's own
    assert set(app.query_params) == {"claim"}


def test_all_pairs_of_the_sentence_lie_on_the_curve(app: AppTest) -> None:
    app.session_state["positions-likeness"] = True
    at_positions(app)
    points, curve = charts(app)[3]["data"]
    expected = decoded(curve, "y")[decoded(points, "x").astype(int)]
    np.testing.assert_allclose(decoded(points, "y"), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("field", "given", "becomes"),
    [
        ("position", 999_999, MIN_POSITIONS - 1),
        ("dimension", 999, OWN_WIDTH - 1),
        ("shift", 0, 1),
        ("shift", 5_000, MIN_POSITIONS - 1),
        ("width", 1, 2),
        ("width", 33, OWN_WIDTH),
        ("width", 999_999, 512),
        ("base", 0, 2),
        ("base", 1, 2),
        ("base", 999_999, BASES[-1]),
        ("base", 9_000, OWN_BASE),
    ],
)
def test_a_number_out_of_reach_becomes_the_nearest(app: AppTest, field: str, given: int, becomes: int) -> None:
    at_positions(app, **{field: given})
    (widget,) = (element for element in (*app.slider, *app.select_slider) if element.key == field)
    assert widget.value == becomes


def test_a_narrower_formula_draws_its_last_dimension_in_place_of_one_it_lacks(app: AppTest) -> None:
    at_positions(app, dimension=31)
    healthy(app.slider(key="width").set_value(2).run())
    assert app.slider(key="dimension").value == 1
    assert any(element.value == "**Dimension 1**: a wavelength of 6.28 tokens" for element in app.markdown)


def test_the_page_names_wavelength_rotation_and_residual(app: AppTest) -> None:
    at_positions(app, dimension=20, position=10, shift=4)
    said = " ".join(element.value for element in (*app.markdown, *app.caption))
    assert f"= {2 * np.pi * OWN_BASE ** (20 / OWN_WIDTH):,.0f} (§3.5)" in said
    assert "in float64" in said
    angle = 4 * OWN_BASE ** (-20 / OWN_WIDTH)
    equation = app.latex[2].value
    for number in (np.cos(angle), np.sin(angle), -np.sin(angle)):
        assert f"{number:.4f}" in equation


def test_the_formula_stands_on_the_page_with_the_settings_that_are_chosen(app: AppTest) -> None:
    at_positions(app, text=SENTENCE, width="48", base="500")
    formula = " ".join(part.value for part in app.latex[:2])
    assert "500^{2i/48}" in formula
    assert "\\sin" in formula
    assert "\\cos" in formula
