"""What figures say of where they show heads and words."""

import numpy as np
import plotly.graph_objects as go

from viz.pages.coreference.figures import every_head_map, group_map, head_ladder
from viz.pictures.figures import charts
from viz.pictures.figures.heads import head_map
from viz.pictures.focus import Place
from viz.text.sites import CROSS, ENCODER


def heads_of(figure: go.Figure) -> dict[tuple[str, int, int], list[float]]:
    return {tuple(spot[:3]): list(spot[3:]) for spot in figure.layout.meta["heads"]}


def test_a_cell_of_a_map_stands_for_the_head_of_its_row_and_column() -> None:
    figure = head_map(np.zeros((2, 3)), title="x", centre=0, floor=1, site=CROSS)
    assert heads_of(figure)[CROSS, 1, 2] == [1.5, 2.5, 0.5, 1.5]
    assert len(heads_of(figure)) == 6
    # Of no model that is open: nothing can be pointed at.
    assert head_map(np.zeros((2, 3)), title="x", centre=0, floor=1).layout.meta is None


def test_in_a_map_of_all_attentions_a_head_has_the_row_of_its_site_and_layer() -> None:
    from model.analysis.metrics.head_names import HeadName

    heads = [HeadName(site, layer, head) for site in (ENCODER, CROSS) for layer in range(2) for head in range(2)]
    figure = every_head_map(np.zeros(8), heads, title="x", bound=1)
    assert heads_of(figure)[CROSS, 0, 1] == [0.5, 1.5, 1.5, 2.5]


def test_the_ladder_has_each_head_at_its_rank_and_the_groups_in_its_column() -> None:
    heads = [(ENCODER, 0, 0), (ENCODER, 0, 1), (ENCODER, 1, 0)]
    value = np.array([0.25, 0.75, 0.5])
    ladder = head_ladder(["a", "b", "c"], value, value - 0.125, value + 0.125, {}, heads)
    assert heads_of(ladder)[ENCODER, 1, 0] == [0.5, 1.5, 0.375, 0.625]
    groups = group_map({"x": np.zeros((1, 3)), "y": np.zeros((1, 3))}, ["a", "b", "c"], heads)
    assert heads_of(groups)[ENCODER, 1, 0] == [1.5, 2.5, -0.5, 1.5]


def test_a_word_is_told_by_all_places_that_it_stands_for() -> None:
    figure = go.Figure()
    both = [Place("source", (1, 2)), Place("other source", (1,))]
    charts.spots(figure, words=[(both, charts.column_of(4, 2))], query=Place("source", [7]))
    assert figure.layout.meta["words"] == [
        [[{"side": "source", "tokens": [1, 2]}, {"side": "other source", "tokens": [1]}], 3.5, 4.5, -0.5, 1.5]
    ]
    assert figure.layout.meta["query"] == {"side": "source", "tokens": [7]}
