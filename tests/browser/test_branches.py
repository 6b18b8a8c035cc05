"""Branches in a real browser: the tree by mouse and keyboard, a removal undone, a saved picture."""

import re
from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of, until
from tests.browser.saving import save_button

TEXT = "It was late."


def opened(page: Page, url: str, **chosen: str | int) -> Locator:
    visit(page, f"{url}/decode?{urlencode({'text': TEXT, 'studio': 'Branches', **chosen})}")
    expect(page.get_by_role("tab", name="Film")).to_be_visible()
    return page.locator(".branch-tree")


def shown_row(tree: Locator) -> Locator:
    return tree.locator("button.open[aria-pressed='true']")


@pytest.mark.long
def test_the_tree_is_walked_and_pruned_by_keyboard_and_a_removal_undone(page: Page, url: str) -> None:
    tree = opened(page, url, branches="0-2-t40.0-4-t41.1-5-t42", branch=3)
    expect(tree.locator(".branch")).to_have_count(4)
    expect(tree.locator("[lang=de]")).to_have_count(4)
    expect(shown_row(tree)).to_contain_text("Branch 3")
    shown_row(tree).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(shown_row(tree)).to_contain_text("Branch 1")
    # Whoever came by keyboard keeps their place.
    expect(tree.locator("button:focus")).to_contain_text("Branch 1")
    page.keyboard.press("Delete")
    expect(tree.locator(".branch")).to_have_count(2)
    expect(shown_row(tree)).to_contain_text("own")
    page.get_by_role("button", name="Undo").click()
    expect(tree.locator(".branch")).to_have_count(4)
    expect(shown_row(tree)).to_contain_text("Branch 1")


def is_beside(last: Locator, shown: Locator) -> bool:
    """Whether the last tab is left of what is shown, above or below it; also where nothing is shown."""
    tab, box = box_of(last), box_of(shown) if shown.is_visible() else None
    if box is None or box["y"] >= tab["y"] + tab["height"] or tab["y"] >= box["y"] + box["height"]:
        return True
    return tab["x"] + tab["width"] <= box["x"]


def assert_no_tab_is_covered(page: Page) -> None:
    """Which branch is shown stands beside the tabs at any width."""
    last = page.get_by_role("tab", name="Inside")
    shown = page.locator(".st-key-asked-of-translation")
    for width in (1000, 1280, 1340, 1366, 1400):
        page.set_viewport_size({"width": width, "height": 1000})
        until(partial(is_beside, last, shown), f"no tab is covered at {width} pixels")


@pytest.mark.long
def test_the_tree_covers_no_tab_is_saved_with_its_text_and_a_click_shows_a_branch_that_the_link_remembers(
    page: Page, url: str
) -> None:
    tree = opened(page, url, branches="0-2-t40.0-4-t41", branch=1)
    assert_no_tab_is_covered(page)
    with page.expect_download() as saving:
        save_button(tree, "SVG").click()
    picture = saving.value.path().read_text(encoding="utf-8")
    assert "Branch 1" in picture
    assert "<path" in picture
    tree.get_by_role("button", name="Compare with Branch 2").click()
    expect(page).to_have_url(re.compile("against=2"))
    expect(page.get_by_text("Branch 1, compared with")).to_be_visible()
    tree.locator(".branch[data-number='0'] .open").click()
    expect(shown_row(tree)).to_contain_text("own")
    expect(page).not_to_have_url(re.compile(r"branch=\d"))
