"""What a person turns to on the attention page is drawn before Python has answered, and stays when it has."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import box_of

# What the page shows right after a click, before any message can have come.
AFTER_CLICK = """(element) => {
  const find = (selector) => [...document.querySelectorAll("*")]
    .map((host) => host.shadowRoot?.querySelector(selector)).find(Boolean);
  element.click();
  const [grid, picture] = [find(".head-grid"), find(".matrix-picture")];
  const labels = [...picture.querySelectorAll(".column-label")].map((label) => label.textContent);
  return { address: grid.dataset.shown, ...picture.dataset, labels };
}"""


def opened(page: Page, url: str, query: str = "") -> Locator:
    visit(page, f"{url}/{query}")
    expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible()
    expect(page.locator(".tile-keeper[data-kept]")).to_have_count(3)
    settled(page)
    return page.locator(".matrix-picture")


@pytest.mark.long
def test_a_clicked_head_and_another_attention_are_drawn_from_tiles_and_then_from_pythons_numbers(
    page: Page, url: str
) -> None:
    picture = opened(page, url)
    shown = page.get_by_role("gridcell", name="L2 H3").evaluate(AFTER_CLICK)
    assert (shown["title"], shown["exact"]) == ("L2 H3", "0")
    expect(picture).to_have_attribute("data-exact", "1")
    expect(picture).to_have_attribute("data-title", "L2 H3")
    expect(page).to_have_url(re.compile("head=L2H3"))
    # Another attention is drawn from tiles that wait, and comes from Python unchanged.
    grid = page.locator(".head-grid")
    before = grid.get_attribute("data-shown")
    shown = page.get_by_role("radio", name="Decoder self").evaluate(AFTER_CLICK)
    assert shown["address"] != before
    assert (shown["labels"][0], shown["exact"]) == ("<s>", "0")
    expect(picture).to_have_attribute("data-exact", "1")
    expect(grid).to_have_attribute("data-shown", shown["address"])
    assert [label.text_content() for label in picture.locator(".column-label").all()] == shown["labels"]
    expect(page).to_have_url(re.compile("site=decoder.self"))


@pytest.mark.long
def test_numbers_of_another_measure_are_never_taken_from_tiles(page: Page, url: str) -> None:
    opened(page, url, "?measure=norms&layer=0&head=0")
    shown = page.get_by_role("gridcell", name="L2 H3").evaluate(AFTER_CLICK)
    assert (shown["title"], shown["exact"]) == ("L1 H1", "1")
    expect(page.locator(".matrix-picture[data-title='L2 H3']")).to_be_visible()


def test_a_kept_cell_stands_in_the_link_and_is_what_the_next_tab_explains(page: Page, url: str) -> None:
    picture = opened(page, url, "?site=decoder.cross")
    cells = picture.locator("canvas")
    box = box_of(cells)
    cells.click(position={"x": box["width"] - 5, "y": 5})
    expect(page).to_have_url(re.compile(r"token=0&key_token=\d+"))
    expect(picture.locator(".row-label.kept")).to_have_text(re.compile("^<s> → "))
    expect(picture.locator(".column-label.kept")).to_have_text("</s>")
