"""The browser's own ways: back, forward and titles."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled
from tests.browser.test_app import opened, sentence, turned_to, typed

TEXT = "She read the book."


@pytest.mark.long
def test_back_and_forward_go_a_step_a_press_and_keep_the_sentence(page: Page, url: str) -> None:
    opened(page, url, "?layer=0&head=0")
    expect(page).to_have_url(re.compile("head=L1H1"))
    typed(page, TEXT)
    expect(page).to_have_url(re.compile("text=She"))
    page.get_by_role("gridcell").nth(6).click()
    expect(page).to_have_url(re.compile("head=L2H3"))
    page.get_by_role("tab", name="Why").click()
    expect(page).to_have_url(re.compile("view=Why"))
    turned_to(page, "Decode")
    expect(page).to_have_title("Decode – Headlight")
    expect(sentence(page, "en")).to_have_text(TEXT)
    tab = page.get_by_role("tab", name="Why")
    page.go_back()
    expect(page).to_have_title("Attention – Headlight")
    expect(tab).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("gridcell", selected=True)).to_have_attribute("data-head", "2")
    page.go_back()
    expect(page.get_by_role("gridcell", selected=True)).to_have_attribute("data-head", "0")
    expect(sentence(page, "en")).to_have_text(TEXT)
    # Undo goes on from there, and does not take the step back again.
    settled(page)
    page.keyboard.press("Control+z")
    expect(sentence(page, "en")).to_have_text(re.compile("The animal"))
    page.keyboard.press("Control+Shift+z")
    expect(sentence(page, "en")).to_have_text(TEXT)
    settled(page)
    page.go_back()
    expect(sentence(page, "en")).to_have_text(re.compile("The animal"))
    page.go_forward()
    expect(sentence(page, "en")).to_have_text(TEXT)
    expect(page.get_by_role("textbox", name="English sentence")).to_have_value(TEXT)
