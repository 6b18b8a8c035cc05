"""The masks and positions page: what its pictures hold, and what becomes of wrong choices."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.positions.sinusoids import Likeness
from model.errors import InputTextError
from tests.paths import ROOT
from tests.viz.reading import traced
from tests.viz.sent import charts
from viz.pages.masks_positions.masks.figures import (
    ALLOWED,
    BOTH,
    COLOURS,
    FUTURE,
    MAX_COLUMNS,
    MAX_ROWS,
    PADDING,
    STATES,
    batch_overview,
    mask_heatmap,
    reasons,
)
from viz.pages.masks_positions.masks.tab import MAX_COMPANIONS, SiteMask, companions
from viz.pages.masks_positions.positions.figures import (
    MAX_POINTS,
    dimension_curve,
    encoding_heatmap,
    likeness_over_distance,
    position_curve,
    shift_on_circle,
)
from viz.pages.masks_positions.positions.tab import MIN_POSITIONS, OWN_BASE
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.ui.controls import BASES

PAGE = "viz/pages/masks_positions/page.py"
SENTENCE = "The animal was tired."
OWN_WIDTH = 32  # of the checkpoint of the tests


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def opened(app: AppTest, **choices: int | str) -> AppTest:
    for name, value in choices.items():
        app.query_params[name] = str(value)
    app.run()
    return app.switch_page(PAGE).run()


def at_positions(app: AppTest, **choices: int | str) -> AppTest:
    return healthy(opened(app, part="Positional encodings", **choices))


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


# ---- masks as pictures ----


def test_every_cell_says_whether_it_is_allowed_or_why_not() -> None:
    causal = np.array([[True, False], [True, True], [True, False], [True, True]])
    padding = np.array([[True, True], [True, True], [False, False], [False, True]])
    assert reasons(causal, padding).tolist() == [
        [ALLOWED, FUTURE],
        [ALLOWED, ALLOWED],
        [PADDING, BOTH],
        [PADDING, ALLOWED],
    ]


def test_the_hover_of_a_cell_names_query_key_and_reason() -> None:
    codes = np.array([[0, 1, 3], [2, 0, 0]], np.uint8)
    heatmap = mask_heatmap(codes, ["q", "r"], ["a", "b", "<pad>"]).data[0]
    np.testing.assert_array_equal(heatmap.z, codes)
    assert heatmap.customdata.tolist() == [[STATES[code] for code in row] for row in codes]
    for part in ("%{y}", "%{x}", "%{customdata}"):
        assert part in heatmap.hovertemplate


def test_where_all_cells_are_alike_the_hover_says_it_once() -> None:
    heatmap = mask_heatmap(np.zeros((3, 2), np.uint8), "abc", "de").data[0]
    assert STATES[ALLOWED] in heatmap.hovertemplate
    assert heatmap.customdata.dtype == np.uint8


def test_every_code_lies_on_its_own_colour_of_the_scale() -> None:
    heatmap = mask_heatmap(np.array([[0, 1], [2, 3]], np.uint8), "ab", "cd").data[0]
    at = {round(position * (heatmap.zmax - heatmap.zmin)): colour for position, colour in heatmap.colorscale}
    assert tuple(at[code] for code in range(4)) == COLOURS
    assert heatmap.showscale is False


def test_the_overview_holds_a_row_a_sentence_and_its_padding() -> None:
    real = np.array([[True, True, True], [True, False, False]])
    figure = batch_overview(real, [["a", "b", "c"], ["d", "<pad>", "<pad>"]])
    heatmap = figure.data[0]
    np.testing.assert_array_equal(heatmap.z == PADDING, ~real)
    assert list(figure.layout.yaxis.ticktext) == ["Sentence 1", "Sentence 2"]
    assert heatmap.customdata.tolist()[1] == ["d", "&lt;pad&gt;", "&lt;pad&gt;"]


def test_the_parts_of_each_mask_make_up_the_one_the_run_recorded(translator: Translator) -> None:
    trace = translator.trace(SENTENCE)
    for site in trace.sites:
        mask = SiteMask.alone(trace, site)
        for layer in range(trace.layers_of(site)):
            used = trace.mask(site, layer).numpy()
            np.testing.assert_array_equal(reasons(mask.causal, mask.padding) == ALLOWED, used)


def test_the_parts_of_each_mask_of_a_batch_make_up_the_one_the_model_used(translator: Translator) -> None:
    masks = translator.masks([SENTENCE, "Hi.", "Tom told me that he would be late."])
    used = {
        "encoder.self": masks.encoder_self,
        "decoder.self": masks.decoder_self,
        "decoder.cross": masks.decoder_cross,
    }
    for row in range(3):
        for site, mask in SiteMask.in_batch(masks, row).items():
            np.testing.assert_array_equal(reasons(mask.causal, mask.padding) == ALLOWED, used[site][row])


@pytest.mark.parametrize("count", [1, 20, 21, 300])
def test_labels_of_a_mask_are_thinned_out_evenly_and_the_hover_knows_all(count: int) -> None:
    labels = [f"t{i}" for i in range(count)]
    layout = mask_heatmap(np.zeros((count, count), np.uint8), labels, labels).layout
    for axis, limit in ((layout.xaxis, MAX_COLUMNS), (layout.yaxis, MAX_ROWS)):
        assert len(axis.tickvals) <= limit
        assert list(axis.ticktext) == [labels[place] for place in axis.tickvals]
    assert list(layout.xaxis2.ticktext) == list(layout.yaxis2.ticktext) == labels


# ---- the sentences of a batch ----


def test_blank_lines_are_no_sentences() -> None:
    assert companions("\n Yes. \n\n  \nNo.\n") == ("Yes.", "No.")
    assert companions(" \n ") == ()


def test_as_many_sentences_as_promised_are_taken_and_one_more_is_refused() -> None:
    assert len(companions("Yes.\n" * MAX_COMPANIONS)) == MAX_COMPANIONS
    with pytest.raises(
        InputTextError, match=f"At most {MAX_COMPANIONS} .* there are {MAX_COMPANIONS + 2} lines. Take out 2"
    ):
        companions("Yes.\n" * (MAX_COMPANIONS + 2))


def test_the_share_of_padding_on_the_page_is_that_of_the_tokens(app: AppTest, translator: Translator) -> None:
    texts = ["Hi.", "Tom told me that he would be late."]
    healthy(opened(app, text=texts[0], companion=texts[1]))
    masks = translator.masks(texts)
    for name, rows in (("Source", masks.source_tokens), ("Translation", masks.target_tokens)):
        cells = [token == "<pad>" for row in rows for token in row]
        said = next(element.value for element in app.markdown if element.value.startswith(f"**{name}**"))
        assert said == f"**{name}**: {sum(cells) / len(cells):.0%} padding, {sum(cells)} of {len(cells)} cells"


def test_each_sentence_of_the_batch_can_be_looked_at(app: AppTest) -> None:
    healthy(opened(app, companion="Hi.\nYes."))
    assert len(app.selectbox(key="batch_member").options) == 3
    before = charts(app)
    healthy(app.selectbox(key="batch_member").set_value(2).run())
    assert charts(app)[:7] == before[:7]
    assert charts(app)[7:] != before[7:]
    assert app.query_params["member"] == "2"


def test_a_member_that_is_not_in_the_batch_becomes_one_that_is(app: AppTest) -> None:
    healthy(opened(app, member=7, companion="Hi."))
    assert app.selectbox(key="batch_member").value == 1


def test_without_further_sentences_the_batch_is_the_sentence_alone(app: AppTest) -> None:
    healthy(opened(app, companion=" "))
    assert app.selectbox(key="batch_member").value == 0
    assert any("0% padding" in element.value for element in app.markdown)


@pytest.mark.parametrize(
    ("typed", "said"), [("Hi.\n" * 9, "At most 8"), ("Hi.\n" + "word " * 900, "Sentence 3 is too long")]
)
def test_a_batch_that_will_not_do_leaves_the_masks_of_the_sentence(app: AppTest, typed: str, said: str) -> None:
    opened(app)
    app.text_area(key="batch_sentences").set_value(typed).run()
    assert not app.exception
    assert said in app.error[0].value
    assert app.text_area(key="batch_sentences").value == typed
    assert len(charts(app)) == 5


def test_markup_in_a_companion_is_shown_literally(app: AppTest) -> None:
    opened(app)
    text = "<img src=x> ![x](https://evil.example/a.png)"
    healthy(app.text_area(key="batch_sentences").set_value(text).run())
    for element in (*app.markdown, *app.caption, *app.html):
        assert "<img" not in element.value
        assert "](https" not in element.value


# ---- positions as pictures ----


def test_the_matrix_has_a_row_a_position_with_the_tokens_of_the_sentence_and_a_line_below_them() -> None:
    encoding = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    figure = encoding_heatmap(encoding, ["a", "<b>"])
    np.testing.assert_array_equal(figure.data[0].z, encoding)
    assert list(figure.layout.yaxis.ticktext) == ["0  a", "1  &lt;b&gt;", "2"]
    assert list(figure.layout.xaxis.ticktext) == ["0", "1", "2", "3"]
    assert [shape.y0 for shape in figure.layout.shapes] == [1.5]


def test_the_matrix_of_a_sentence_that_fills_it_has_no_line() -> None:
    assert encoding_heatmap(np.zeros((2, 4), np.float32), ["a", "b"]).layout.shapes == ()


def test_sines_and_cosines_of_a_position_are_two_curves() -> None:
    row = np.array([0.1, 0.2, 0.3, 0.4])
    sine, cosine = position_curve(row, np.array([[0, 1], [2, 3]])).data
    assert (list(sine.x), list(sine.y), sine.name) == ([0, 2], [0.1, 0.3], "sine (even)")
    assert (list(cosine.x), list(cosine.y), cosine.name) == ([1, 3], [0.2, 0.4], "cosine (odd)")
    sine, cosine = position_curve(row, np.array([[0, 2], [1, 3]])).data
    assert (list(sine.x), list(sine.y), sine.name) == ([0, 1], [0.1, 0.2], "sine (first half)")
    assert (list(cosine.x), list(cosine.y), cosine.name) == ([2, 3], [0.3, 0.4], "cosine (second half)")


@pytest.mark.parametrize(("wavelength", "bands"), [(2.5, [2.5]), (3.5, [])])
def test_one_wavelength_is_marked_where_it_fits(wavelength: float, bands: list[float]) -> None:
    figure = dimension_curve(np.arange(4.0), np.zeros(4), np.array([0.0, 1.0, 0.0, -1.0]), ["a"], wavelength)
    assert [shape.x1 for shape in figure.layout.shapes] == bands
    assert [list(trace.x) for trace in figure.data[1:]] == [[0], [1, 2, 3]]


def test_pairs_are_drawn_at_their_distance_with_both_tokens_on_hover() -> None:
    pairs = Likeness(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5.0, 3.0, 7.0]), None)
    points, curve, means = likeness_over_distance(
        np.array([9.0, 6.0, 3.0]), pairs, ["a", "b", "<i>"], shows_means=True
    ).data
    assert (list(points.x), list(points.y)) == ([1, 2, 1], [5, 3, 7])
    assert points.customdata[1] == "<b>a</b> (0) and <b>&lt;i&gt;</b> (2)"
    assert list(curve.y) == [9, 6, 3]
    assert (list(means.x), list(means.y)) == ([1, 2], [6, 3])


def test_of_very_many_pairs_evenly_spaced_ones_are_drawn() -> None:
    first, second = np.triu_indices(300, 1)
    pairs = Likeness(first, second, np.zeros(len(first)), None)
    figure = likeness_over_distance(np.zeros(300), pairs, ["a"] * 300, shows_means=True)
    assert len(figure.data[0].x) <= MAX_POINTS
    assert len(figure.data[2].x) == 299


def test_one_token_has_no_pairs_and_still_a_curve() -> None:
    nothing = np.array([], int)
    figure = likeness_over_distance(
        np.array([1.0, 2.0]), Likeness(nothing, nothing, np.array([]), None), ["a"], shows_means=True
    )
    assert [len(trace.x) for trace in figure.data] == [0, 2]


def test_the_arc_leads_from_the_position_to_the_shifted_one() -> None:
    angles = 0.7 * np.arange(12)
    figure = shift_on_circle(np.sin(angles), np.cos(angles), 4, 3, 2.1)
    _, arc, start, end = figure.data
    assert np.arctan2(arc.y[0], arc.x[0]) == pytest.approx(np.arctan2(start.y[1], start.x[1]))
    assert np.arctan2(arc.y[-1], arc.x[-1]) == pytest.approx(np.arctan2(end.y[1], end.x[1]))
    assert (start.name, end.name) == ("pos = 4", "pos + k = 7")


# ---- positions on the page ----


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
    other = charts(app)
    healthy(app.button(key="own").click().run())
    assert "what the model added" in app.success[0].value
    assert charts(app)[0] != other[0]
    assert charts(app)[-1] == other[-1]  # embedding + position is always the model's own
    assert set(app.query_params) == {"part"}


def test_all_pairs_of_the_sentence_lie_on_the_curve(app: AppTest) -> None:
    at_positions(app)
    points, curve = charts(app)[4]["data"]
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
    assert any(element.value == "**Dimension 1**: one wave is 6.28 tokens long" for element in app.markdown)


def test_the_page_names_wavelength_rotation_and_residual(app: AppTest) -> None:
    at_positions(app, dimension=20, position=10, shift=3)
    said = " ".join(element.value for element in (*app.markdown, *app.caption))
    assert f"= {2 * np.pi * OWN_BASE ** (20 / OWN_WIDTH):,.0f} (§3.5)" in said
    assert "in float64" in said
    angle = 3 * OWN_BASE ** (-20 / OWN_WIDTH)
    equation = app.latex[0].value
    for number in (np.cos(angle), np.sin(angle), -np.sin(angle)):
        assert f"{number:.4f}" in equation


@pytest.mark.parametrize("text", ["x", "Hi.", "The cat sleeps. " * 4, "החתול ישן", "😀", "<b>x</b>"])
def test_any_sentence_has_its_masks_and_positions(app: AppTest, text: str) -> None:
    at_positions(app, text=text)
    healthy(app.segmented_control(key="side").set_value("target").run())
    app.get_by_key("masks_tab")
    healthy(opened(app, part="Masks"))
