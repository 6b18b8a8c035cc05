"""Views pinned on their pages, side by side on the page Learn, and taken along in one file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled
from tests.browser.pointing import box_of
from tests.browser.test_app import opened, turned_to

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator


def cards(page: Page) -> "Locator":
    return page.locator("[class*='st-key-pin-caption']")


def captioned(page: Page, number: int, caption: str) -> None:
    before = page.url
    page.get_by_role("textbox", name="Caption").nth(number).fill(caption)
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(before)
    settled(page)


@pytest.mark.long
def test_pins_stand_side_by_side_in_a_file_too_and_survive_a_reload_by_their_address(
    page: Page, chromium: "Browser", url: str, tmp_path: Path
) -> None:
    # The grid of all heads, and a head.
    opened(page, url)
    page.get_by_role("button", name="Pin this view").click()
    expect(page.get_by_text("Pinned: 1")).to_be_visible()
    page.get_by_role("gridcell").nth(2).click()
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    page.get_by_role("button", name="Pin this view").click()
    expect(page.get_by_text("Pinned: 2")).to_be_visible()
    turned_to(page, "Learn")
    page.get_by_role("tab", name="Collection").click()
    expect(cards(page)).to_have_count(2)
    expect(page.locator(".st-key-pin-0").get_by_role("gridcell").first).to_be_visible()
    expect(page.locator(".st-key-pin-1").get_by_role("application")).to_be_visible()
    first, second = (box_of(page.locator(f".st-key-pin-{number}")) for number in (0, 1))
    assert (first["y"], second["x"] > first["x"] + first["width"]) == (second["y"], True)
    captioned(page, 0, "All of <i>them</i>")
    assert_opens_from_the_disk(page, chromium, tmp_path / "collection.html")
    captioned(page, 1, "One <b>head</b>")
    page.goto("about:blank")
    page.go_back()
    page.reload()
    expect(cards(page)).to_have_count(2)
    expect(page.get_by_role("textbox", name="Caption").nth(1)).to_have_value("One <b>head</b>")
    page.locator(".st-key-pin-open-1 button").click()
    expect(page).to_have_title("Attention – Headlight")
    expect(page.get_by_role("gridcell", selected=True)).to_have_attribute("data-head", "2")


def assert_opens_from_the_disk(page: Page, chromium: "Browser", file: Path) -> None:
    """The collection as one file, which shows the caption and asks nobody for anything."""
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML page").click()
    download.value.save_as(file)
    context = chromium.new_context(offline=True)
    asked: list[str] = []
    problems: list[str] = []
    tab = context.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: problems.append(message.text))
    tab.goto(file.as_uri())
    expect(tab.locator("figure")).to_have_count(2)
    expect(tab.locator("figcaption")).to_have_text("All of <i>them</i>")
    expect(tab.get_by_role("gridcell", selected=True)).to_be_visible()
    expect(tab.locator("figure").nth(1).get_by_role("application")).to_be_visible()
    assert [address for address in asked if not address.startswith(("data:", "blob:"))] == [file.as_uri()]
    assert not problems
    context.close()
