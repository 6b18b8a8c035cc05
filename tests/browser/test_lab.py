"""The coreference lab in a real browser: a clicked cell and a clicked word."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled, visit
from tests.browser.pointing import pointed_at


@pytest.mark.long
def test_a_clicked_word_is_marked_and_a_clicked_cell_opens_its_head(page: Page, url: str) -> None:
    visit(page, f"{url}/compare")
    # The rows of a layer are drawn on demand.
    page.get_by_text("One layer: where each head attends to").click()
    expect(page.locator(".st-key-difference .js-plotly-plot:visible")).to_be_visible()
    # A clicked word is marked, and the link remembers it. What a run under way draws again could take a click with it.
    settled(page)
    distractor = page.locator(".st-key-words-0 .word.marked[title='distractor']")
    expect(distractor).to_have_text("street")
    page.get_by_role("button", name="Mark words").click()
    page.locator(".st-key-distractor").get_by_text("tired", exact=True).click()
    expect(distractor).to_have_text("tired.")
    expect(page).to_have_url(re.compile("distractor=10"))
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-distractor")).to_be_hidden()
    for key in ("rows-token", "rows-other_token"):
        expect(page.locator(f".st-key-{key} .js-plotly-plot:visible")).to_be_visible()
    for field in ("token", "other_token"):
        expect(page.locator(f".st-key-{field}").get_by_role("combobox")).to_have_value(re.compile(r"^\d+ · ▁?it$"))
    chart = page.locator(".st-key-movement .js-plotly-plot:visible")
    expect(chart).to_be_visible()
    # Layer 2 of 2, head 3 of 4.
    expect(pointed_at(chart, 2.5 / 4, 1.5 / 2)).to_contain_text("L2 H3")
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile("head=L2H3"))
    expect(page.get_by_text(re.compile("^L2 H3 moves"))).to_be_visible()
