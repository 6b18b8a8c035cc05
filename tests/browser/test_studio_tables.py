"""The logit lens and beam search in a real browser: by mouse, by keyboard, and taken along.

The `page` fixture also asserts that nothing went to the console as an error and nothing was asked of another host.
"""

import re
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import until
from tests.browser.saving import save_button

TEXT = "It was late."


def opened(page: Page, url: str, studio: str, ready: str, **chosen: str | int) -> Locator:
    visit(page, f"{url}/decode?{urlencode({'studio': studio, 'text': TEXT, **chosen})}")
    part = page.locator(ready)
    expect(part).to_be_visible()
    return part


def lens(page: Page, url: str, **chosen: str | int) -> Locator:
    return opened(page, url, "Logit lens", ".lens-table[data-ready='1']", **chosen)


def beam(page: Page, url: str, **chosen: str | int) -> Locator:
    return opened(page, url, "Beam search", ".beam-picture[data-ready='1']", **chosen)


@pytest.mark.long
def test_every_token_can_be_read_and_a_cell_tells_its_five_best_to_the_mouse_and_to_the_keyboard(
    page: Page, url: str
) -> None:
    table = lens(page, url)
    contrasts = """cells => cells.map((cell) => {
          const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
            .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
          const { color, backgroundColor } = getComputedStyle(cell);
          const [low, high] = [light(color), light(backgroundColor)].sort((one, other) => one - other);
          return (high + 0.05) / (low + 0.05);
        })"""
    until(lambda: min(table.locator("td[data-level]").evaluate_all(contrasts)) > 4, "every token can be read")
    table.locator("td[data-level='1'][data-step='2']").hover()
    tip = table.locator(".tooltip")
    expect(tip).to_contain_text(re.compile(r"Layer 1 · step 3.*Written: .*rank", re.DOTALL))
    expect(tip.locator(".lens-top tr")).to_have_count(5)
    table.locator("td[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "End"):
        page.keyboard.press(key)
    last = table.locator("th.number[data-step]").count()
    expect(tip).to_contain_text(f"Layer 1 · step {last}")
    is_in_sight = (
        "cell => cell.getBoundingClientRect().right <= cell.closest('.scroller').getBoundingClientRect().right + 1"
    )
    until(lambda: table.locator("td:focus").evaluate(is_in_sight), "the cell is in sight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"step={last - 1}"))


@pytest.mark.long
def test_dropped_hypotheses_fold_away_and_come_back_and_the_tree_is_saved_and_opened(page: Page, url: str) -> None:
    tree = beam(page, url, beam=3)
    everything = until(tree.locator(".node").count, "the tree is drawn")
    switch = tree.get_by_role("checkbox", name="Show dropped hypotheses")
    expect(switch).to_be_checked()
    switch.uncheck()
    expect(tree.locator(".node.dropped")).to_have_count(0)
    until(lambda: 0 < tree.locator(".node").count() < everything, "fewer nodes")
    switch.check()
    expect(tree.locator(".node")).to_have_count(everything)
    content = {}
    for form in ("PNG", "SVG"):
        with page.expect_download() as download:
            save_button(tree, form).click()
        assert download.value.suggested_filename == f"headlight-beam-width3-penalty60-it-was-late.{form.lower()}"
        content[form] = Path(download.value.path()).read_bytes()
    assert content["PNG"].startswith(b"\x89PNG")
    svg = ElementTree.fromstring(content["SVG"])
    boxes = [part for part in svg.iter("{http://www.w3.org/2000/svg}rect") if "stroke-width" in part.get("style", "")]
    assert len(boxes) >= tree.locator(".node").count()
    assert "the winner" in "".join(svg.itertext())
    # One is opened by a click and by keyboard.
    node = tree.locator(".node.dropped").nth(1)
    node.hover()
    expect(tree.locator(".tooltip")).to_contain_text(re.compile("log-probability −.*Dropped in step", re.DOTALL))
    node.click()
    expect(page).to_have_url(re.compile(f"node={node.get_attribute('data-node')}"))
    expect(node).to_have_attribute("aria-pressed", "true")
    tree.locator(".node[tabindex='0']").focus()
    for key in ("Home", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    second = tree.locator(".node:focus")
    expect(second).to_have_attribute("aria-label", re.compile("^Step 1: "))
    expect(page).to_have_url(re.compile(f"node={second.get_attribute('data-node')}"))
    expect(page.locator(".st-key-beam-attention .ytick text").first).to_contain_text("row 1")
