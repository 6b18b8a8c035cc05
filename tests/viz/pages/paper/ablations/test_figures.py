"""The points of each seed."""

from viz.pages.paper.data.ablations import Row, SetResult
from viz.pages.paper.figures import seed_points


def row(preset: str, differences: dict[int, float], paper: float | None = None) -> Row:
    return Row(preset, 2, {"dev": SetResult((1, 1), (1, 1), differences, None)}, None, paper)


def test_each_seed_is_a_point_and_the_first_model_is_on_top() -> None:
    rows = [row("full", {}), row("no-positions", {0: -8, 1: -7}), row("no-dropout", {0: 0.5}, -1.2)]
    figure = seed_points(rows, "dev")
    seeds, paper = figure.data
    assert list(zip(seeds.x, seeds.y, strict=True)) == [(-8, "no positions"), (-7, "no positions"), (0.5, "no dropout")]
    assert (list(paper.x), list(paper.y)) == ([-1.2], ["no dropout"])
    assert list(figure.layout.yaxis.categoryarray) == ["no dropout", "no positions"]
    assert "seed 1: −7.0" in seeds.customdata
