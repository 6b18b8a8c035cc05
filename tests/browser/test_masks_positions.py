"""Masks and positions in a real browser: by mouse, by keyboard, narrow and in the dark."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of, pointed_at


def opened(page: Page, url: str, query: str = "") -> None:
    visit(page, f"{url}/paper?{query}")
    expect(page.get_by_role("heading", name="The paper", level=1)).to_be_visible()


def drawn(page: Page, key: str) -> Locator:
    plot = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(plot).to_be_visible()
    return plot


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
    page.get_by_role("tab", name="Positions").click()
    page.locator(".st-key-positions-likeness summary").click()
    drawn(page, "likeness-sums")
    assert_within(page, 800)
    choice = page.locator("[data-testid='stButtonGroup']").filter(has_text="Translation")
    right = choice.evaluate("group => group.getBoundingClientRect().right")
    last = choice.get_by_role("radio", name="Translation")
    assert last.evaluate("button => button.getBoundingClientRect().right") <= right


def test_sentences_typed_into_the_batch_are_drawn_and_a_wrong_one_leaves_the_rest(page: Page, url: str) -> None:
    opened(page, url, "claim=Masks&text=Hi.")
    drawn(page, "overview-Source")
    field = page.get_by_role("textbox", name=re.compile("Further sentences"))
    field.fill("Tom was late.\n" * 9)
    field.press("Control+Enter")
    expect(page.get_by_text("At most 8 further sentences")).to_be_visible()
    drawn(page, "mask-alone-decoder")
    field.fill("Tom was late.")
    field.press("Control+Enter")
    expect(page.locator(".st-key-overview-Source .ytick text")).to_have_count(2)
    page.get_by_role("tab", name="Positions").click()
    drawn(page, "encoding")
    expect(page).to_have_url(re.compile("claim=Positions"))


def test_sliders_are_moved_by_keyboard_and_pictures_link_and_what_is_said_follow(page: Page, url: str) -> None:
    opened(page, url, "text=It+was+late+again.&claim=Positions&position=4")
    page.get_by_text("A shift is a rotation").click()
    drawn(page, "circle")
    page.get_by_role("slider", name="Position").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label(re.compile("^Position 5: its sines"))).to_be_visible()
    expect(page.locator(".st-key-circle .legendtext", has_text="pos = 5")).to_be_visible()
    expect(page).to_have_url(re.compile("position=5"))
    # Another width is said not to be the model's until it is taken back.
    page.get_by_role("slider", name=re.compile("d_model")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Not what the model added")).to_be_visible()
    expect(page).to_have_url(re.compile("width=34"))
    page.get_by_role("button", name="Back to the model's own").click()
    expect(page.get_by_text("This is what the model added")).to_be_visible()
    expect(page).not_to_have_url(re.compile("width="))


def assert_within(page: Page, width: int) -> None:
    for plot in page.locator(".js-plotly-plot:visible").all():
        box = box_of(plot)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
