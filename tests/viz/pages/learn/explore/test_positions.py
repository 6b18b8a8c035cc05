"""Positions on the page and as pictures: recorded rows, other settings, numbers out of reach, other models."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.config import Positions
from model.nn.layers import sinusoidal_encoding
from model.tokenizer import Tokenizer
from tests.viz.page_run import healthy, traced
from tests.viz.pages.learn.explore.opening import exploring
from tests.viz.sent import charts, numbers, numbers_of, sent_to, unlinked
from viz.pages.learn.explore.data.positions import OWN_BASE
from viz.pages.learn.explore.positions import MIN_POSITIONS
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import scientific
from viz.ui.controls import BASES

SENTENCE = "The animal was tired."
OWN_WIDTH = 32  # of the checkpoint of the tests


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_matrix_holds_the_recorded_rows_and_the_page_says_so(app: AppTest, side: str) -> None:
    exploring(app, "positions", text=SENTENCE, side=side)
    assert "what the model added" in app.success[0].value
    recorded = traced(SENTENCE, Selection().changed(checkpoint="en-de")).positional[side].numpy()
    formula = sinusoidal_encoding(len(recorded), OWN_WIDTH, base=float(OWN_BASE)).numpy()
    assert f"the {len(recorded)} rows of this sentence" in app.success[0].value
    assert f"largest difference {scientific(float(np.abs(formula - recorded).max()))}." in app.success[0].value
    shown = numbers_of(charts(app)[0]["data"][0])
    assert shown.shape == (MIN_POSITIONS, OWN_WIDTH)
    np.testing.assert_array_equal(shown[: len(recorded)], recorded)


@pytest.mark.parametrize("choice", [{"width": 64}, {"width": 48, "base": 500}])
def test_other_settings_are_said_not_to_be_the_models_and_can_be_taken_back(
    app: AppTest, choice: dict[str, int]
) -> None:
    exploring(app, "positions", **choice)
    assert not app.success
    assert "not the encodings that the model added" in app.warning[-1].value
    formula = " ".join(part.value for part in app.latex[:2])
    assert "\\sin" in formula
    assert "\\cos" in formula
    assert f"^{{2i/{choice['width']}}}" in formula
    assert "base" not in choice or "500^{2i/48}" in formula
    app.session_state["positions-likeness"] = True
    other = charts(app.run())
    healthy(app.button(key="own").click().run())
    assert "what the model added" in app.success[0].value
    assert charts(app)[0] != other[0]
    assert charts(app)[-1] == other[-1]  # embedding + position is always the model's own
    assert "width" not in app.query_params


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ({"position": 999_999, "dimension": 999, "shift": 0}, (MIN_POSITIONS - 1, OWN_WIDTH - 1, 1)),
        ({"shift": 5_000}, (MIN_POSITIONS - 1,)),
        ({"width": 1, "base": 0}, (2, 2)),
        ({"width": 33, "base": 1}, (OWN_WIDTH, 2)),
        ({"width": 999_999, "base": 999_999}, (512, BASES[-1])),
        ({"base": 9_000}, (OWN_BASE,)),
    ],
)
def test_a_number_out_of_reach_becomes_the_nearest(
    app: AppTest, given: dict[str, int], becomes: tuple[int, ...]
) -> None:
    exploring(app, "positions", **given)
    widgets = {element.key: element.value for element in (*app.slider, *app.select_slider)}
    assert tuple(widgets[field] for field in given) == becomes


def test_the_page_names_wavelength_rotation_and_residual(app: AppTest) -> None:
    exploring(app, "positions", dimension=20, position=10, shift=4)
    said = " ".join(element.value for element in (*app.markdown, *app.caption))
    assert f"= {2 * np.pi * OWN_BASE ** (20 / OWN_WIDTH):,.0f} (§3.5)" in said
    assert "in float64" in said
    angle = 4 * OWN_BASE ** (-20 / OWN_WIDTH)
    assert f"kω = {angle:.4g} rad ({np.degrees(angle):.4g}°)" in said
    equation = app.latex[2].value
    for number in (np.cos(angle), np.sin(angle), -np.sin(angle)):
        assert f"{number:.4f}" in equation
    # The pair at position 14 is what that at position 10 becomes.
    after, _, before = equation.partition("=")
    for at, side in ((14, after), (10, before)):
        assert rf"{np.sin(at * angle / 4):.4f} \\ {np.cos(at * angle / 4):.4f}" in side
    circle = charts(app)[3]["data"]
    assert len(numbers(circle[0]["x"])) == MIN_POSITIONS + 4


def with_model(
    folder: Path, config: TransformerConfig, tokenizer: Tokenizer, positions: Positions, monkeypatch: pytest.MonkeyPatch
) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(replace(config, positions=positions))
    save_checkpoint(folder / "en-de", model, tokenizer, card="Random weights.\n")
    monkeypatch.setenv(ROOT_VARIABLE, str(folder))
    return model


def test_a_model_without_positions_says_what_it_cannot_tell(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(tmp_path, config, tokenizer, "none", monkeypatch)
    exploring(app, "positions")
    (said,) = [
        unlinked(element.value) for element in app.markdown if "adds no positional encodings" in unlinked(element.value)
    ]
    assert said.startswith("**No positional encodings.** This model")


def test_learned_positions_are_drawn_as_they_are_added(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(tmp_path, config, tokenizer, "learned", monkeypatch)
    exploring(app, "positions")
    assert any("Learned positions" in unlinked(element.value) for element in app.markdown)
    assert sent_to(app, "matrix_picture")
