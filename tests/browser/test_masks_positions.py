"""Masks and positions in a real browser: what a cell says, and that a narrow page holds all, by day and in the dark."""

import re
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of, pointed_at, until


def opened(page: Page, url: str, query: str = "") -> None:
    visit(page, f"{url}/experiments?{query}")


def drawn(page: Page, key: str) -> Locator:
    plot = page.locator(f".st-key-{key} .js-plotly-plot:visible")
    expect(plot).to_be_visible()
    return plot


@pytest.mark.long
def test_a_cell_says_why_a_query_may_not_attend_to_a_key_and_a_narrow_page_holds_all(page: Page, url: str) -> None:
    opened(page, url, "claim=Masks&text=It+is+late.&companion=Hi.")
    plot = drawn(page, "mask-batch-decoder")
    hover = pointed_at(plot, 0.99, 0.01)
    expect(hover).to_contain_text("query <s>")
    expect(hover).to_contain_text(re.compile("key .*masked: future"))
    # At 800 pixels no picture is wider than the page, and both sides can be chosen.
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 800, "height": 900})
    drawn(page, "mask-batch-cross")
    assert_within(page, 800)
    page.emulate_media(color_scheme="light")
    opened(page, url, "claim=Positions&text=It+is+late.")
    page.locator(".st-key-positions-likeness summary").click()
    drawn(page, "likeness-sums")
    assert_within(page, 800)
    choice = page.locator("[data-testid='stButtonGroup']").filter(has_text="Translation")
    last = choice.get_by_role("radio", name="Translation")
    right = "part => part.getBoundingClientRect().right"
    until(lambda: last.evaluate(right) <= choice.evaluate(right), "both sides can be chosen")


def is_within(plot: Locator, width: int) -> bool:
    box = box_of(plot)
    return box["x"] >= 0 and box["x"] + box["width"] <= width


def assert_within(page: Page, width: int) -> None:
    for plot in page.locator(".js-plotly-plot:visible").all():
        until(partial(is_within, plot, width), f"{plot} is within {width} pixels")
