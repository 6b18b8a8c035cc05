"""Pictures of the paper's claims: where marks lie, which names they have, and that nothing leaves the picture."""

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from viz.pages.experiments import figures, table_one
from viz.pages.experiments.data.ablations import Row, SetResult
from viz.pages.experiments.data.claims import Quartiles, Regression, Sample
from viz.pages.experiments.figures import Line


def sample(width: int, name: str = "scaled", gradient: float = 0.25) -> Sample:
    spread, entropy = Quartiles(1.0, 2.0, 3.0), Quartiles(0.5, 1.5, 2.5)
    weights = np.array([0.5, 0.25, 0.125, 0.075, 0.05])
    return Sample(name, width, 1.25, 1.0, spread, entropy, Quartiles(0.001, gradient, 0.5), weights)


def regression() -> Regression:
    queries, keys = np.linspace(0, 5, 21), np.linspace(0, 5, 8)
    weights = np.random.default_rng(0).dirichlet(np.ones(8), 21)
    row = np.array([0.0, 0.01, 0.02, 0.25, 0.64, 0.04, 0.04, 0.0])
    return Regression(keys, np.sin(keys), queries, np.sin(queries), np.cos(queries), weights, row, 0.75, 2.0)


@pytest.mark.parametrize(("unit", "heading", "told"), [("s", "Time", "2.00 ms"), ("B", "Memory", "0 B")])
def test_costs_are_told_in_their_unit(unit: str, heading: str, told: str) -> None:
    lines = [Line("a", "#000", (64, 128), (0.002, 0.5)), Line("b", "#111", (64, 256), (0.1, 0.2), is_dashed=True)]
    figure = figures.cost_lines(lines, "n", unit)  # type: ignore[arg-type]
    assert figure.layout.annotations[0].text == f"<b>{heading}</b>"
    assert figure.data[0].customdata[0] == told
    assert [trace.line.dash for trace in figure.data] == ["solid", "dash"]
    assert list(figure.layout.xaxis.tickvals) == [64, 128, 256]


def test_a_point_is_as_large_as_its_weight_by_area_and_can_always_be_seen() -> None:
    of_row = figures.pooled_curve(regression(), 2.5).data[1].marker.size
    assert of_row[4] / of_row[3] == pytest.approx(0.8 / 0.5)
    assert min(of_row) == of_row[0] == of_row[1] == figures._SMALL


def test_the_nearest_query_is_framed_as_wide_as_the_keys_and_one_row_high() -> None:
    figure = figures.weight_rows(regression(), 3.1)
    (frame,) = figure.layout.shapes
    # Queries stand 0.25 apart: 3.0 is the thirteenth.
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 7.5, 11.5, 12.5)
    assert (list(figure.layout.yaxis.ticktext), list(figure.layout.xaxis.ticktext)) == (["0", "2", "5"], ["0.0", "3.6"])
    assert (figure.data[0].xgap, figure.data[0].ygap) == (0, 0)


def test_every_seed_s_row_is_within_the_picture_and_has_its_height() -> None:
    def drawn(models: int) -> tuple[int, tuple[float, float]]:
        of_set = {"dev": SetResult((1, 1), (1, 1), {0: -1.0}, None)}
        layout = figures.seed_points([Row(f"model {n}", 1, of_set, None, None) for n in range(models)], "dev").layout
        return layout.height, layout.yaxis.range

    (low, (bottom, top)), (high, _) = drawn(3), drawn(5)
    # The first category is at 0, and a row reaches half a row to both sides of its place.
    assert (-1 < bottom <= -0.5, 2.5 <= top < 3) == (True, True)
    assert (high - low) / 2 >= 20
    assert low > 3 * (high - low) / 2


def test_every_part_taken_out_has_a_bar_of_its_own_height_with_its_number_beside_it() -> None:
    few, more = (figures.bleu_bars(["a", "b", "c"][:n], [91.25, 3.0, 0.0][:n], [0.5, 0, 0][:n]) for n in (2, 3))
    assert (few.data[0].text[0], few.data[0].customdata[0]) == ("91.2", "50%")
    assert few.layout.height > 2 * (more.layout.height - few.layout.height) >= 50
    # The number of a bar of 100 stands beyond it.
    assert more.layout.xaxis.range[0] == 0
    assert more.layout.xaxis.range[1] > 100


def test_the_first_map_of_influence_says_whose_they_are_and_each_its_number_of_layers() -> None:
    layout = figures.influence_maps([np.eye(4), np.ones((4, 4))], "GRU").layout
    assert [note.text for note in layout.annotations] == ["<b>GRU</b><br>1 layer", "2 layers"]
    assert [note.xref for note in layout.annotations] == ["x domain", "x2 domain"]
    assert (layout.yaxis.domain[1], layout.yaxis2.domain[0]) == (1, 0)
    assert (layout.yaxis2.anchor, layout.xaxis2.anchor) == ("x2", "y2")


def test_the_legend_of_influence_has_the_colours_that_its_shares_have_on_a_map() -> None:
    (heatmap,) = figures.influence_maps([4 * np.array([[0.0, 1e-5, 1e-3, 1.0]])], "GRU").data
    assert [f"{share:g}" for share in heatmap.customdata[0]] == ["0", "1e-05", "0.001", "1"]
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    drawn = sample_colorscale(list(map(list, heatmap.colorscale)), heatmap.z[0], colortype="tuple")
    told = [tuple(bytes.fromhex(colour[1:])) for colour, _ in table_one._LEGEND]
    np.testing.assert_allclose(np.multiply(drawn, 255), told, atol=1)


def test_a_row_of_weights_has_ranks_from_one_and_its_numbers_in_the_corner() -> None:
    figure = figures.example_row(sample(64))
    assert list(figure.data[0].x) == [1, 2, 3, 4, 5]
    assert list(figure.layout.xaxis.tickvals) == [1, 2, 5]
    heading, corner = figure.layout.annotations
    assert heading.text.startswith("<b>Scaled</b>")
    assert corner.text == ("standard deviation  <b>2.00</b><br>entropy  <b>1.50</b> of 2 bits<br>gradient  <b>0.25</b>")
    # It hangs below the top of the chart, at its right end.
    assert (corner.x, corner.y, corner.xanchor, corner.yanchor) == (1, 1, "right", "top")
    assert -12 < corner.yshift < 0


def test_small_gradients_are_told_as_powers_of_ten() -> None:
    told = [figures._short(value) for value in (0.25, 0.01, 0.0099)]
    assert told[:2] == ["0.25", "0.01"]
    assert "10" in told[2]


def test_lines_over_widths_have_the_name_and_the_colour_of_their_function() -> None:
    samples = {name: [sample(width, name) for width in (2, 8)] for name in ("dot", "scaled")}
    formula, variance, *_ = figures.variance_curve(samples, 8).data
    assert (list(formula.y), list(variance.y)) == ([1, 1], [1.25, 1.25])
    assert formula.hovertemplate.startswith("Dot product, d_k")
    gradient = figures.gradient_curve(samples, 8)
    assert list(gradient.data[1].customdata) == [f"{figures._short(0.001)} to 0.50"] * 2
    assert gradient.layout.shapes[0].x0 == 8
    assert len({*figures.SCORE_COLOURS.values()}) == 4
    assert len({*figures.COLOURS.values()}) == 5


@pytest.mark.parametrize(("keys", "named"), [(1, 1), (40, 40), (41, 21), (81, 27)])
def test_of_many_keys_evenly_spaced_ones_are_named_upright(keys: int, named: int) -> None:
    axis = figures.head_row({"dot": np.zeros(keys)}, [f"{key}" for key in range(keys)]).layout.xaxis
    assert len(axis.tickvals) == named
    assert list(axis.ticktext) == [str(position) for position in axis.tickvals]
    assert axis.tickangle == -90
