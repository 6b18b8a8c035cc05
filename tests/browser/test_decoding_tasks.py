"""What a person comes to the decoding page for, and how many clicks it takes from a fresh start."""

import re

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.long
def test_the_other_pronoun_is_written_and_compared_in_three_clicks(page: Page, shipped_url: str) -> None:
    page.goto(shipped_url)
    page.get_by_role("link", name="Decode").click()
    player = page.locator(".decode-player[data-ready='1']")
    # It opens on the step that writes the pronoun.
    expect(player.locator(".column.now .written")).to_have_text("▁es")
    rival = player.locator(".bar-button", has=page.locator("bdi", has_text=re.compile("^▁sie$")))
    expect(rival).to_contain_text("× less")
    rival.click()
    expect(page).to_have_url(re.compile("branch=1"))
    expect(page.get_by_role("heading", name="Comparison")).to_be_visible()
    expect(page.locator("p[lang='de'] ins").filter(has_text="sie").first).to_be_visible()
    # A head that changes is open, not the first one.
    # The one before may still be going.
    expect(page.locator(".st-key-branch-attention .js-plotly-plot:visible").last).to_be_visible()
