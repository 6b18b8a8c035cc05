"""Attention → Why, in a browser: from the first page to the word that decided, in four clicks, and back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


@pytest.mark.long
def test_a_stranger_gets_in_four_clicks_from_the_first_page_to_the_word_that_was_read(
    page: Page, shipped_url: str
) -> None:
    visit(page, shipped_url)
    page.locator(".headline").get_by_role("link", name="Why?").click()
    why = page.locator(".why[data-ready]")
    expect(why.get_by_role("heading", level=2)).to_contain_text("Why animal and not")
    why.locator(".bar", has_text="cross L4").click()
    expect(page.locator(".why[data-ready='c4']")).to_be_visible()
    why.get_by_role("button", name=re.compile(r"^it, .*why\?$")).first.click()
    expect(page.locator(".why[data-ready='c4.s10']")).to_be_visible()
    why.locator(".bar", has_text="encoder L4").click()
    expect(why.locator(".because")).to_contain_text("Because “it” had read “tired”")
    expect(page).to_have_url(re.compile(r"trail=c4\.s10\.e4"))
    # Escape returns one step, as the browser's Back does.
    expect(why.get_by_role("heading", level=2)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".why[data-ready='c4.s10']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"trail=c4\.s10(&|$)"))
    page.go_back()
    expect(page.locator(".why[data-ready='c4.s10.e4']")).to_be_visible()
    # The trail of one cell is none of another's.
    page.get_by_role("tab", name="All heads").click()
    page.get_by_role("gridcell", name="L6 H1", exact=False).click()
    expect(page.locator(".matrix-picture[data-exact='1']")).to_have_attribute("data-title", re.compile("^L6 H1"))
    page.get_by_role("tab", name="Why").click()
    expect(page.locator(".why[data-ready='question']")).to_be_visible()
