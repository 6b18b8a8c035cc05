"""Choices undone by keys and buttons."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import settled
from tests.browser.pointing import box_of
from tests.browser.test_app import opened, turned_to


@pytest.mark.long
def test_ctrl_z_undoes_choices_one_after_the_other_but_in_a_field_what_was_typed(page: Page, url: str) -> None:
    opened(page, url, "?layer=0&head=0")
    head = page.get_by_role("gridcell", selected=True)
    undo, redo = (page.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    place = box_of(undo)["x"]
    expect(redo).to_be_hidden()
    cells = page.get_by_role("gridcell")
    cells.nth(2).click()
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    cells.nth(3).click()
    expect(page).to_have_url(re.compile(r"head=L\dH4"))
    page.keyboard.press("Control+z")
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    expect(head).to_have_attribute("data-head", "2")
    page.keyboard.press("Control+z")
    expect(page).to_have_url(re.compile(r"head=L\dH1"))
    page.keyboard.press("Control+Shift+Z")
    expect(head).to_have_attribute("data-head", "2")
    page.keyboard.press("Control+y")
    expect(head).to_have_attribute("data-head", "3")
    # Presses that follow fast are all heard.
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(page).to_have_url(re.compile(r"head=L\dH1"))
    # Its button comes beside the other, which stands still.
    expect(redo).to_be_visible()
    assert box_of(undo)["x"] == place
    redo.click()
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    # In a field they undo what was typed and no choice.
    field = page.get_by_role("textbox", name="English sentence")
    before = field.input_value()
    field.press("End")
    field.press_sequentially("x")
    field.press("Control+z")
    expect(field).to_have_value(before)
    # Had it undone a choice as well, the next undo would lead further back.
    cells.nth(1).click()
    expect(page).to_have_url(re.compile(r"head=L\dH2"))
    page.keyboard.press("Control+z")
    expect(page).to_have_url(re.compile(r"head=L\dH3"))
    # A choice of another page is undone there.
    turned_to(page, "Decode")
    expect(page.locator(".decode-player[data-ready='1']")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_title("Attention – Headlight")
    expect(head).to_have_attribute("data-head", "0")


@pytest.mark.long
@pytest.mark.parametrize(("name", "choice", "param"), [("Export", "White", "paper="), ("Weights", "Norms", "measure=")])
def test_what_was_undone_is_not_chosen_again_by_a_button_of_settings_that_is_closed(
    page: Page, url: str, name: str, choice: str, param: str
) -> None:
    opened(page, url)
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("radio", name=choice).click(force=True)
    expect(page).to_have_url(re.compile(param))
    page.keyboard.press("Escape")
    # The list has closed for the server too.
    page.wait_for_timeout(300)
    settled(page)
    page.keyboard.press("Control+z")
    expect(page).not_to_have_url(re.compile(param))
    page.get_by_role("gridcell").nth(5).click()
    expect(page).to_have_url(re.compile("head=L2H2"))
    settled(page)
    expect(page).not_to_have_url(re.compile(param))
