"""The grid of all heads on its page: metrics, orders and filters, by widget and by link."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of
from tests.viz.reading import traced
from tests.viz.sent import sent_to
from viz.access import attention
from viz.selection.attention import METRICS
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.sites import SITES

TEXT = Selection().common.text


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of()


def grid_of(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "head_grid")
    return header


def test_at_first_tiles_carry_nothing_and_there_is_nothing_to_rank_by(app: AppTest) -> None:
    header = grid_of(app.run())
    assert (header["metric"], header["ranked"], header["notes"]) == (None, None, [])
    assert not {"order", "max_heads"} & {box.key for box in app.selectbox}


@pytest.mark.parametrize("figure", METRICS[1:])
def test_every_figure_can_be_chosen_and_stands_in_the_link(app: AppTest, figure: str) -> None:
    app.run()
    header = grid_of(app.selectbox(key="metric").set_value(figure).run())
    assert len(header["metric"]["texts"]) == 8
    assert header["ranked"] is None
    assert app.query_params["figure"] == figure


def test_heads_are_ranked_and_filtered(app: AppTest) -> None:
    app.run()
    app.selectbox(key="metric").set_value("entropy").run()
    app.selectbox(key="order").set_value("lowest").run()
    header = grid_of(app.selectbox(key="max_heads").set_value(4).run())
    numbers = [float(header["metric"]["texts"][head]) for head in header["ranked"]]
    assert numbers == sorted(map(float, header["metric"]["texts"]))[:4]
    assert dict(app.query_params) == {"figure": "entropy", "order": "lowest", "keep": "4"}
    header = grid_of(app.selectbox(key="order").set_value("layers").run())
    assert header["ranked"] is None
    assert not [box for box in app.selectbox if box.key == "max_heads"]


def test_a_link_opens_ranked_heads_and_a_wrong_number_of_them_is_all(app: AppTest) -> None:
    app.query_params.update({"figure": "distance", "order": "highest", "keep": "5"})
    assert len(grid_of(app.run())["ranked"]) == 8


def test_a_figure_without_meaning_at_a_site_is_explained_and_comes_back_at_another(app: AppTest) -> None:
    app.query_params.update({"figure": "next", "order": "highest", "site": "decoder.cross"})
    header = grid_of(app.run())
    assert (header["metric"], header["ranked"]) == (None, None)
    assert "one sentence to another" in app.info[0].value
    header = grid_of(app.segmented_control(key="site").set_value("encoder.self").run())
    assert (header["metric"]["name"], len(header["ranked"])) == ("Next token", 8)
    assert not app.info


def test_tiles_of_all_three_attentions_wait_in_the_browser_and_the_grid_names_them(
    app: AppTest, selection: Selection
) -> None:
    app.query_params["site"] = "decoder.cross"
    app.run()
    header = grid_of(app)
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    addresses = [attention.tiles_key(traced(TEXT, selection), site) for site in SITES]
    assert header["followed"] == {"control": "site", "addresses": addresses, "jobs": [None] * 3}
    assert set(kept) == set(addresses)
    assert header["address"] == addresses[2]
    trace = traced(TEXT, selection)
    for site, address in zip(SITES, addresses, strict=True):
        assert tuple(kept[address]["queryTokens"]) == trace.row_names(site)
        assert tuple(kept[address]["keyTokens"]) == trace.axis_tokens(site)[1]


def test_tiles_show_the_measure_that_is_chosen(app: AppTest) -> None:
    app.query_params.update({"measure": "norms", "figure": "entropy"})
    app.run()
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    shown = kept[grid_of(app)["address"]]
    assert (shown["number"], shown["heads"]) == ("norm", 4)
    assert shown["top"] > 0
    assert grid_of(app)["metric"]["name"] == "Entropy"
    app.segmented_control(key="measure").set_value("rollout").run()
    header = grid_of(app)
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    assert (kept[header["address"]]["number"], kept[header["address"]]["heads"]) == ("share", 1)
    # One tile a layer: nothing that is known of a head stands under it.
    assert (header["isMean"], header["metric"], header["jobs"]) == (True, None, None)
    assert any("one tile per layer" in caption.value for caption in app.caption)
