"""Masks as pictures: every cell says whether it is allowed, or why not."""

import numpy as np
import pytest

from model import Translator
from viz.pages.paper.mask_figures import (
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
from viz.pages.paper.masks import SiteMask

SENTENCE = "The animal was tired."


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
        assert list(axis.ticktext) == [labels[position] for position in axis.tickvals]
    assert list(layout.xaxis2.ticktext) == list(layout.yaxis2.ticktext) == labels
