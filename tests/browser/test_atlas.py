"""The atlas of heads in a real browser: by mouse and by keyboard.

The `page` fixture also asserts that nothing went to the console as an error and nothing was asked of another host.
"""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from model import Translator
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import build_atlas, reading_digest
from model.analysis.corpus import OWN_CORPUS, CorpusSentence, read_text
from tests.browser.conftest import visit
from tests.browser.pointing import box_of
from tests.browser.saving import save_button
from viz.text.written import ENCODER

MODEL = "with-atlas"


@pytest.fixture(scope="module")
def url(url: str, checkpoints: Path, tiny_checkpoints: Path) -> str:
    """The app, on whose list is a tiny checkpoint that has an atlas of our own sentences, some of them, beside it."""
    folder = Path(shutil.copytree(tiny_checkpoints / "en-de", checkpoints / MODEL))
    own = list(read_text(OWN_CORPUS))
    # Read with a translation: a model of random weights would write each one to the limit.
    sentences = [CorpusSentence(sentence.text, "Es ist so.") for sentence in own[:40]]
    atlas = build_atlas(Translator.load(folder, device="cpu"), sentences)
    save_atlas(replace(atlas, corpus=reading_digest(own, ())), folder / "atlas.npz")
    return url


def opened(page: Page, url: str, ready: str, **chosen: str | int) -> Locator:
    visit(page, f"{url}/atlas?{urlencode({'checkpoint': MODEL, **chosen})}")
    part = page.locator(ready).first
    expect(part).to_be_visible()
    return part


@pytest.mark.long
def test_maps_are_enlarged_and_heads_opened_by_click_and_by_keyboard(page: Page, url: str) -> None:
    maps = opened(page, url, ".head-maps[data-ready='1']", site="encoder.self")
    expect(maps.get_by_role("gridcell")).to_have_count(8)
    maps.get_by_role("button", name=re.compile("^Entropy")).click()
    expect(maps).to_have_attribute("data-map", "entropy")
    expect(page).to_have_url(re.compile("corpus_figure=entropy"))
    cell = maps.get_by_role("gridcell", name=re.compile("^L1 H3, Entropy "))
    cell.hover()
    expect(maps.locator(".tooltip")).to_contain_text(re.compile(r"L1 H3.*Entropy \d\.\d\d bits", re.DOTALL))
    cell.click()
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("head=L2H2"))
    expect(maps.locator(".cell:focus")).to_have_attribute("aria-label", re.compile("^L2 H2, .*, open$"))
    with page.expect_download() as download:
        save_button(maps, "SVG").click()
    assert download.value.suggested_filename == "headlight-atlas-entropy-encoder-self-weights.svg"
    svg = Path(download.value.path()).read_text(encoding="utf-8")
    assert "Mean distance" in svg
    assert cell.inner_text() in svg


@pytest.mark.long
def test_a_point_opens_its_head_again_and_again_and_a_lasso_lists_heads(page: Page, url: str) -> None:
    opened(
        page, url, ".js-plotly-plot .main-svg", atlas="Scatter", across="entropy", up="distance", site=ENCODER, layer=1
    )
    points = page.locator(".js-plotly-plot .scatterlayer .trace").nth(1).locator("path.point")
    opens: list[str] = []
    for at in (3, 2, 3):
        page.locator(".st-key-head").wait_for()
        points.nth(at).wait_for()
        box, before = box_of(points.nth(at)), page.url
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(page).not_to_have_url(before)
        opens.append(page.url)
    # Points may lie over one another, but the same place opens the same head.
    assert opens[0] == opens[2] != opens[1]
    page.locator('[data-title="Lasso Select"]').first.click()
    box = box_of(page.locator(".js-plotly-plot .nsewdrag").first)
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.04)]
    for number, (across, down) in enumerate(corners):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=5)
        if not number:
            page.mouse.down()
    page.mouse.up()
    expect(page.get_by_text("in the lasso")).to_contain_text("24 heads")
    row = page.get_by_role("row", name=re.compile("cross L2 H1"))
    row.get_by_role("cell").first.click()
    expect(page).to_have_url(re.compile(r"site=decoder.cross&head=L2H1"))
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text("heads in the lasso")).to_have_count(0)
