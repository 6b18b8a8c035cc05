"""How many clicks from a fresh start lead to a cause: each step of this test is one click."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of


@pytest.mark.long
def test_the_verdict_takes_two_clicks_and_a_click_on_a_cell_tests_another_head(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, url)
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("tab", name="Cause").click()
    tried = "rather than .*: when it is switched off, .*; when it is pointed at .*; with its output from"
    verdict = page.get_by_text(re.compile(tried))
    expect(verdict).to_be_in_viewport()
    for title in ("Switched off", "Swapped from sentence B"):
        expect(page.get_by_text(title, exact=True).first).to_be_in_viewport()
    expect(page.get_by_text(re.compile("^Pointed at “")).first).to_be_in_viewport()
    # While a chart comes, the page may hold a hidden one beside it.
    chart, *others = (
        page.locator(f".st-key-cause-{name}-map .js-plotly-plot:visible") for name in ("off", "point", "swap")
    )
    for each in (chart, *others):
        expect(each).to_be_visible()
    # What is written comes last, and moves the maps down.
    expect(page.get_by_text("Written freely, from the first word on:").first).to_be_visible()
    chart.scroll_into_view_if_needed()
    box = box_of(chart.locator(".nsewdrag").last)
    # The last of the three attentions, its last layer and head.
    page.mouse.click(box["x"] + box["width"] - 6, box["y"] + box["height"] - 6)
    expect(page).to_have_url(re.compile("site=decoder.cross&head=L2H4"))
    expect(page.get_by_text(re.compile("cross L2 H4 .*: switched off"))).to_be_visible()
