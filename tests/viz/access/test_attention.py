"""What is derived from a trace's attention: metrics and tiles, made once for all viewers."""

import zlib
from pathlib import Path

import numpy as np
import pytest

from model.opening import open_reader
from tests.model.adapters import zoo
from tests.viz.reading import traced
from viz.access import attention, models, traces
from viz.pictures.tiles.codes import code
from viz.selection.attention import KEPT, METRICS
from viz.selection.common import MEASURE_NAMES, Measure
from viz.selection.selection import Selection
from viz.text.sites import SITES

TEXT = Selection().common.text


@pytest.mark.parametrize("site", SITES)
def test_figures_are_those_of_the_traces_weights_and_cannot_be_written(selection: Selection, site: str) -> None:
    figures = attention.head_metrics(traced(TEXT, selection), site)
    assert ("", *figures, KEPT) == METRICS
    trace = traced(TEXT, selection)
    free = trace.mask(site, 1).sum(-1) > 1
    weights = trace.weights(site, 1).numpy()[:, free]
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nan_to_num(weights * np.log2(weights)).sum(-1).mean(-1)
    np.testing.assert_allclose(figures["entropy"][1], bits, rtol=1e-5)
    assert not any(values.flags.writeable for values in figures.values())


def test_tiles_and_figures_are_made_once_for_all_viewers(selection: Selection) -> None:
    first, again = (models.reader(selection.model).trace(TEXT, extras={traces.OUTPUTS}) for _ in range(2))
    assert first is not again
    reader = models.reader(selection.model)
    assert attention.head_tiles(first, reader, SITES[0]) is attention.head_tiles(again, reader, SITES[0])
    assert attention.head_metrics(first, SITES[0]) is attention.head_metrics(again, SITES[0])


def test_another_sentence_has_other_addresses(selection: Selection) -> None:
    assert len({attention.tiles_key(traced(text, selection), site) for text in ("a", "b") for site in SITES}) == 6
    assert len({attention.tiles_key(traced(TEXT, selection), SITES[0], measure) for measure in MEASURE_NAMES}) == 3


@pytest.mark.parametrize(("measure", "heads"), [("norms", 4), ("rollout", 1)])
def test_tiles_by_another_measure_are_parts_of_its_largest_number(
    selection: Selection, measure: Measure, heads: int
) -> None:
    trace, reader = traced(TEXT, selection), models.reader(selection.model)
    measured = attention.head_tiles(trace, reader, SITES[2], measure)
    view = attention.MatrixView(measure, whole_words=False, special_tokens=True)
    values = np.stack([attention.opened_layer(trace, reader, SITES[2], layer, view).values for layer in range(2)])
    assert measured.top == pytest.approx(values.max() if measure == "norms" else 1.0)
    cells = np.frombuffer(zlib.decompress(measured.tiles.deflated), np.uint8).reshape(2, *values.shape).astype(int)
    assert values.shape[1] == heads
    np.testing.assert_array_equal(cells[0] + 256 * cells[1], code(values / np.float32(measured.top)))


def test_rows_and_columns_of_a_bert_are_called_as_bert_writes_its_pieces(tmp_path: Path) -> None:
    trace = open_reader(zoo.save_model(tmp_path / "bert", "bert")).trace("The streetcars.")
    for is_joined, expected in ((False, trace.source_names), (True, ("[CLS]", "the", "streetcars.", "[SEP]"))):
        view = attention.MatrixView("weights", whole_words=is_joined, special_tokens=True)
        queries, keys = attention.shown_axes(trace, "encoder.self", view)
        assert queries.labels == keys.labels == expected
    assert trace.row_names("encoder.self") == trace.source_names
    assert any(name.startswith("##") for name in trace.source_names)
    assert not any("▁" in name for name in trace.source_names)
