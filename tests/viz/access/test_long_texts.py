"""Long texts on their pages: the grid layer by layer, overview and exact tiles, a window of lines, what is left out.

What counts as long is set low, so that a tiny model and a short sentence show it.
"""

import time
import zlib
from math import ceil
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
import transformers
from streamlit.testing.v1 import AppTest

from tests.model.adapters import zoo
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, opened, said, traced
from tests.viz.pages.learn.explore.opening import exploring
from tests.viz.sent import sent_to
from viz.access import attention, models, traces
from viz.access.attention import MatrixView
from viz.pictures.tiles.codes import Tile
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress

TEXT = "Tom told me that he would be late again tomorrow morning."
SITES = ("encoder.self", "decoder.self", "decoder.cross")


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch, tiny_checkpoints: Path) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    for name, value in (("SHORT", 8), ("OVERVIEW_SIDE", 9), ("WINDOW", 16)):
        monkeypatch.setattr(attention, name, value)
    # What another test derived has another size.
    st.cache_resource.clear()


@pytest.fixture
def app(_short: None) -> AppTest:
    return app_of(text=TEXT)


@pytest.fixture
def selection(_short: None) -> Selection:
    return Selection().changed(checkpoint="en-de", text=TEXT)


@pytest.mark.parametrize("site", SITES)
def test_the_grid_fills_in_order_with_the_tiles_of_the_trace(selection: Selection, site: str) -> None:
    trace = traced(TEXT, selection)
    grid = attention.grid_of(trace, site)
    seen: list[list[int]] = []

    class Watched(Progress):
        def __call__(self, count: int) -> None:
            seen.append(sorted(grid.layers))

    attention.tiles_task(trace, site).compute(Watched(2, "layers"))
    assert seen == [[0], [0, 1]]
    assert attention.grid_of(trace, site) is grid
    expected = attention.head_tiles(trace, models.reader(selection.model), site).tiles
    planes = np.frombuffer(zlib.decompress(expected.deflated), np.uint8).reshape(
        -1, 2, 4 * expected.spec.rows * expected.spec.columns
    )
    for layer, tiles in grid.layers.items():
        found = np.frombuffer(zlib.decompress(tiles.deflated), np.uint8).astype(int)
        # A weight on the edge of two cells may fall into either: it is computed by another product.
        assert np.abs(found - planes[:, layer].ravel()).max() <= 1 or (found != planes[:, layer].ravel()).mean() < 0.01


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("measure", ["weights", "norms", "rollout"])
@pytest.mark.parametrize("site", SITES)
def test_overview_and_tiles_are_those_of_the_whole_head(
    selection: Selection, site: str, measure: str, words: bool
) -> None:
    chosen = Selection().changed(checkpoint="en-de", text=TEXT, measure=measure, whole_words=words)
    trace = traced(TEXT, chosen)
    reader, view = models.reader(chosen.model), MatrixView.of(chosen.common)
    whole = attention.opened_layer(trace, reader, site, 1, view).values[0 if measure == "rollout" else 2]
    head = attention.long_head(trace, reader, site, 1, 2, view)
    tall, wide = head.block
    assert head.overview.shape == (-(-whole.shape[0] // tall), -(-whole.shape[1] // wide))
    # No block is larger than it has to be, so that the overview is as fine as it may be.
    assert head.block == tuple(ceil(count / 9) for count in whole.shape)
    row = attention.long_row(trace, reader, site, 1, 2, 3, view)
    np.testing.assert_allclose(row, whole[3:4], atol=1e-6)
    for row, column in np.ndindex(head.overview.shape):
        block = whole[row * tall : (row + 1) * tall, column * wide : (column + 1) * wide]
        assert head.overview[row, column] == pytest.approx(block.max(), abs=1e-6)
    tile = head.source.pooled(*Tile(0, 0, 0).slices(), (1, 1))
    np.testing.assert_allclose(tile, whole, atol=1e-6)
    assert head.top == (pytest.approx(whole.max()) if measure == "norms" else 1.0)
    assert not head.overview.flags.writeable
    others = [attention.long_head(trace, reader, site, *place, view) for place in ((1, 1), (0, 2))]
    assert measure == "rollout" or len({head.source.address, *(other.source.address for other in others)}) == 3


def test_a_rollout_beyond_its_limit_is_refused_in_a_sentence(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MAX_ROLLOUT", 10)
    opened(app, measure="rollout")
    assert "available up to 10 tokens" in said(app)
    assert not sent_to(app, "matrix_picture")


def test_words_and_hidden_special_tokens_are_shown_too(app: AppTest) -> None:
    opened(app, special="False")
    ((header, _),) = sent_to(app, "matrix_picture")
    assert header["rowTokens"] == TEXT.split()
    assert header["columnTokens"] == TEXT.removesuffix(".").split()
    # The grid of a long text shows every key.
    assert not any(frame.get("leftOut") for frame, _ in sent_to(app, "tile_keeper"))
    assert next(sides["rowTokens"] for sides in header["previews"].values()) == TEXT.split()


@pytest.mark.parametrize("site", SITES)
def test_lines_join_a_window_of_the_whole_layer(selection: Selection, site: str) -> None:
    trace = traced(TEXT, selection)
    reader, view = models.reader(selection.model), MatrixView("weights", whole_words=False, sinks=True)
    whole = attention.opened_layer(trace, reader, site, 1, view)
    part = attention.window(trace, reader, site, 1, 3, view)
    rows, columns = ([group[0] for group in axis.groups] for axis in (part.queries, part.keys))
    count = whole.values.shape[1]
    first = max(0, min(3, count - 16))
    assert rows == list(range(first, min(first + 16, count)))
    np.testing.assert_allclose(part.values, whole.values[:, rows][:, :, columns], atol=1e-6)


def test_a_text_is_long_beyond_the_limit_and_not_at_it(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traced(TEXT, selection)
    queries, keys = map(len, trace.axis_tokens("decoder.cross"))
    assert queries != keys
    monkeypatch.setattr(attention, "SHORT", max(queries, keys))
    assert not attention.is_long(trace, "decoder.cross")
    monkeypatch.setattr(attention, "SHORT", max(queries, keys) - 1)
    assert attention.is_long(trace, "decoder.cross")


def test_the_window_follows_the_kept_token_and_the_slider_and_says_where_it_is(
    app: AppTest, selection: Selection
) -> None:
    opened(app, drawn="Lines", token=20, words=0)
    count = len(traced(TEXT, selection).source_tokens)
    assert f"Queries 13 to 28 of {count}" in said(app)
    ((header, _),) = sent_to(app, "head_lines")
    assert header["command"]["query"] == 8
    app.slider(key="window_start").set_value(2).run()
    assert f"Queries 3 to 18 of {count}" in said(app)
    assert app.query_params["window"] == "2"
    assert sent_to(app, "head_lines")[0][0]["command"]["query"] is None
    assert f"Queries 1 to 16 of {count}" in said(opened(app_of(text=TEXT, drawn="Lines", token=20, window=0, words=0)))
    beyond = opened(app_of(text=TEXT, drawn="Lines", window=5000, words=0))
    assert f"to {count} of {count}" in said(beyond), "a window beyond the text becomes the last"


def test_the_grid_page_and_the_film_say_what_they_leave_out(app: AppTest) -> None:
    app.session_state["export"] = True
    opened(app)
    assert "available up to 8 tokens" in said(app)
    masks = said(exploring(app_of(text=TEXT), "masks"))
    assert "tokens are too many for legible cells" in masks
    assert "Masks of a batch are drawn up to 8 tokens per side" in masks
    app.switch_page("viz/pages/decoding/page.py").run()
    assert "The film contains the rows of all heads" in said(app)


def test_a_file_without_room_for_weights_says_so(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MAX_WEIGHT_BYTES", 10)
    app.session_state["export"] = True
    opened(app)
    assert "too many for a file and are omitted" in said(app)
    assert not [each for each in app.get("download_button") if "all weights, queries" in each.proto.help]


#: One of each kind of model.
@pytest.mark.long
@pytest.mark.parametrize("model_type", ["bert", "gpt2", "bart"])
def test_the_page_opens_the_longest_text_of_a_model_in_little_bytes(
    model_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoo.save_longest(tmp_path / model_type, model_type)
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    length = zoo.LONGEST[model_type][-1]
    text = zoo.text_of(transformers.AutoTokenizer.from_pretrained(tmp_path / model_type), length)
    app = opened(app_of(), checkpoint=model_type, words=0)
    app.text_area(key="text").set_value(text).run()
    assert not app.error, app.error[0].value
    deadline = time.monotonic() + PATIENCE
    while len(sent_to(app, "tile_keeper")) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    ((header, _),) = sent_to(app, "matrix_picture")
    assert len(header["rowTokens"]) == length
    assert header["deep"]["block"][0] > 1
    assert len(sent_to(app, "tile_keeper")) == 2, "the frame, and the one layer"
    sent = [element.proto for element in app.get("bidi_component")]
    grid = sum(len(one.bytes) for one in sent if one.component_name in ("headlight_head_grid", "headlight_tile_keeper"))
    assert grid <= 1_000_000
