"""Views pinned on their pages, listed in the head of each, presented one after another and taken along in one file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled
from tests.browser.test_app import opened, turned_to

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def opened_list(page: Page) -> None:
    page.get_by_role("button", name="Pins").click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    settled(page)


def pinned(page: Page, count: int) -> None:
    """Pin the open view, and leave the list."""
    opened_list(page)
    page.get_by_role("button", name="Pin this view").click()
    expect(page.get_by_role("textbox", name="Caption")).to_have_count(count)
    settled(page)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("pins="))
    settled(page)


@pytest.mark.long
def test_pins_are_captioned_taken_along_kept_by_their_address_and_presented_one_after_another(
    page: Page, chromium: "Browser", url: str, tmp_path: Path
) -> None:
    opened(page, url)
    pinned(page, 1)
    page.get_by_role("gridcell").nth(2).click()
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    pinned(page, 2)
    turned_to(page, "Decode")
    pinned(page, 3)
    opened_list(page)
    page.get_by_role("textbox", name="Note").nth(1).fill("Ask the class first.")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("textbox", name="Caption").first.fill("All of <i>them</i>")
    page.keyboard.press("Tab")
    # What is typed while the caption is saved stays, and is saved.
    page.keyboard.type("Let them look.", delay=30)
    settled(page)
    page.keyboard.press("Enter")
    settled(page)
    note = page.get_by_role("textbox", name="Note").first
    expect(note).to_have_value("Let them look.")
    assert_opens_from_the_disk(page, chromium, tmp_path / "collection.html")
    page.goto("about:blank")
    page.go_back()
    page.reload()
    expect(page.get_by_role("textbox", name="Caption").first).to_have_value("All of <i>them</i>")
    page.get_by_role("button", name="Present these views").click()
    expect(page.get_by_text("All of <i>them</i>")).to_be_visible()
    expect(page.locator(".st-key-heads [data-ready='1']")).to_be_visible()
    bar = page.locator(".present-steps")
    with page.expect_popup() as opened_window:
        bar.get_by_role("button", name="Notes").click()
    presenter = opened_window.value
    expect(presenter.get_by_text("Next: Attention: All heads")).to_be_visible()
    presenter.get_by_role("button", name="Next").focus()
    for number, key, title in ((2, "PageDown", "Attention"), (3, "PageDown", "Decode"), (2, "PageUp", "Attention")):
        expect(bar).to_have_attribute("data-ready", "1")
        settled(page)
        # Alternately where the views are, and in the presenter's window.
        (presenter if number == 3 else page).keyboard.press(key)
        expect(page).to_have_title(f"{title} – Headlight")
        expect(bar.get_by_role("status")).to_have_text(f"{number} of 3")
        expect(presenter.get_by_text(f"{number} of 3")).to_be_visible()
        # It is the same one, so it keeps the focus until there is no next view.
        expect(presenter.locator("button:focus")).to_have_count(int(number == 2 and key == "PageDown"))
        expect(presenter.get_by_text("Ask the class first.")).to_have_count(int(number == 2))
        expect(page.get_by_text("Ask the class first.")).to_have_count(0)
    expect(page.get_by_role("gridcell", selected=True)).to_have_attribute("data-head", "2")
    settled(page)
    with presenter.expect_event("close"):
        page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


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
    expect(tab.locator("figure")).to_have_count(3)
    expect(tab.locator("figcaption")).to_have_text("All of <i>them</i>")
    expect(tab.get_by_role("gridcell", selected=True)).to_be_visible()
    expect(tab.locator("figure").nth(1).get_by_role("application")).to_be_visible()
    assert [address for address in asked if not address.startswith(("data:", "blob:"))] == [file.as_uri()]
    assert not problems
    context.close()
