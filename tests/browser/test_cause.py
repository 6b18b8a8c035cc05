"""How many clicks from a fresh start lead to a cause: each step of this test is one click."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


def test_which_head_is_the_cause_takes_two_clicks_and_a_single_head_a_layer_a_third(page: Page, url: str) -> None:
    visit(page, url)
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("tab", name="Cause").click()
    verdict = re.compile(r"Switched off alone, .* flips the choice")
    expect(page.get_by_text(verdict).first).to_be_visible()
    for site in ("encoder", "decoder"):
        expect(page.locator(f"[class*='st-key-cause-effects-{site}'] .js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text(re.compile("The pronoun (flips|does not flip):")).first).to_be_visible()
    page.get_by_role("button", name="One head a layer").click()
    expect(page.get_by_text("18 of 24 heads are off")).to_be_visible()
    expect(page.get_by_text(re.compile("without these|the translation stays")).first).to_be_visible()
    expect(page).to_have_url(re.compile("of=layer"))
