"""Pictures of the topics: where marks lie, what their sizes mean, and that nothing leaves the picture."""

import itertools

import numpy as np
import pytest

from viz.pages.learn.explore import figures
from viz.pages.learn.explore.data.pooling import Regression
from viz.pages.learn.explore.data.scores import Quartiles, Sample


def sample(width: int, name: str = "scaled", gradient: float = 0.25) -> Sample:
    spread, entropy = Quartiles(1.0, 2.0, 3.0), Quartiles(0.5, 1.5, 2.5)
    weights = np.array([0.5, 0.25, 0.125, 0.075, 0.05])
    return Sample(name, width, 1.25, 1.0, spread, entropy, Quartiles(0.001, gradient, 0.5), weights)


def regression() -> Regression:
    queries, keys = np.linspace(0, 5, 21), np.linspace(0, 5, 8)
    weights = np.random.default_rng(0).dirichlet(np.ones(8), 21)
    row = np.array([0.0, 0.01, 0.02, 0.25, 0.64, 0.04, 0.04, 0.0])
    return Regression(keys, np.sin(keys), queries, np.sin(queries), np.cos(queries), weights, row, 0.75, 2.0)


def test_a_point_is_as_large_as_its_weight_by_area_and_can_always_be_seen() -> None:
    of_row = figures.pooled_curve(regression(), 2.5).data[1].marker.size
    assert of_row[4] / of_row[3] == pytest.approx(0.8 / 0.5)
    assert min(of_row) == of_row[0] == of_row[1] > 3


def test_the_nearest_query_is_framed_as_wide_as_the_keys_and_one_row_high() -> None:
    (frame,) = figures.weight_rows(regression(), 3.1).layout.shapes
    # Queries stand 0.25 apart: 3.0 is the thirteenth.
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 7.5, 11.5, 12.5)


def test_no_influence_is_darker_than_the_smallest_and_maps_stand_below_each_other() -> None:
    shades = figures.shades(np.array([[0.0, 1e-9, 1e-3, 2.0]]))[0]
    assert (np.diff(shades) > 0).all()
    assert (shades[0], shades[3]) == (0, pytest.approx(1))
    layout = figures.influence_maps([np.eye(4)] * 3, "GRU").layout
    assert [note.text for note in layout.annotations] == ["<b>GRU</b><br>1 layer", "2 layers", "3 layers"]
    spans = [layout[axis].domain for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert (spans[0][1], spans[2][0]) == (1, pytest.approx(0))
    assert all(above[0] > below[1] for above, below in itertools.pairwise(spans))


def test_lines_over_widths_are_medians_with_the_name_of_their_function() -> None:
    samples = {name: [sample(width, name) for width in (2, 8)] for name in ("dot", "scaled")}
    formula, variance, *_ = figures.variance_curve(samples, 8).data
    assert (list(formula.y), list(variance.y)) == ([1, 1], [1.25, 1.25])
    assert formula.hovertemplate.startswith("Dot product, d_k")
    assert list(figures.entropy_curve(samples, 8).data[0].y) == [1.5, 1.5]
    gradient = figures.gradient_curve(samples, 8)
    assert gradient.data[1].customdata[0].endswith(" to 0.50")
    assert gradient.layout.shapes[0].x0 == 8


@pytest.mark.parametrize(("keys", "named"), [(1, 1), (40, 40), (41, 21), (81, 27)])
def test_of_many_keys_evenly_spaced_ones_are_named_upright(keys: int, named: int) -> None:
    axis = figures.head_row({"dot": np.zeros(keys)}, [f"{key}" for key in range(keys)]).layout.xaxis
    assert len(axis.tickvals) == named
    assert list(axis.ticktext) == [str(position) for position in axis.tickvals]
    assert axis.tickangle == -90
