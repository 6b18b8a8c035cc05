"""The map of what moves, and bars of one row."""

import numpy as np
import pytest

from model.analysis.metrics.head_names import HeadName
from viz.pages.coreference.figures import every_head_map, form_bars, mark_columns, movement_map
from viz.text.sites import DECODER, ENCODER


def test_the_map_names_every_cell_and_frames_the_open_one() -> None:
    values = np.array([[0.5, -0.25, 0.0], [-1.5, 0.125, 2.0]], np.float32)
    parts = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100
    names = [f"L{layer} H{head}" for layer in (1, 2) for head in (1, 2, 3)]
    figure = movement_map(values, parts, names, site=ENCODER, number="weight", averaged=False, opened=(1, 2), bound=2.0)
    assert tuple(figure.data[0].text[1]) == ("−1.50", "+0.12", "+2.00")
    cells = figure.data[2]
    assert list(zip(cells.x, cells.y, strict=True)) == [(h, layer) for layer in range(2) for h in range(3)]
    assert tuple(cells.customdata[3]) == (1, 0, "L2 H1", "−1.5000", "0.1200", "0.1300", "0.1400", "0.1500")
    frame = figure.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)


@pytest.mark.parametrize(
    ("sites", "labels"),
    [([ENCODER], ("L1", "L2")), ([ENCODER, DECODER], ("encoder L1", "L2", "decoder self L1", "L2"))],
)
def test_layers_are_called_by_their_attention_where_there_are_several(
    sites: list[str], labels: tuple[str, ...]
) -> None:
    heads = [HeadName(site, layer, head) for site in sites for layer in (0, 1) for head in (0, 1)]
    figure = every_head_map(np.arange(len(heads)) / 4, heads, title="change", bound=1.0)
    assert figure.layout.yaxis.ticktext == labels


def test_bars_say_which_pronoun_is_written() -> None:
    figure = form_bars({"er": 0.25, "<b>": 0.5}, "<b>")
    assert list(figure.data[0].text) == ["0.250", "0.500 (written)"]
    assert list(figure.layout.yaxis.ticktext) == ["er", "<b>&lt;b&gt;</b>"]


def test_neighbouring_columns_share_a_frame() -> None:
    figure = form_bars({"er": 1.0}, "er")
    mark_columns(figure, (1, 2, 5), rows=4, colour="#000000", dash="dash")
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(0.5, 2.5), (4.5, 5.5)]
