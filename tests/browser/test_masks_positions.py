"""Masks and positions in a real browser: by mouse, by keyboard, narrow and in the dark."""

import re

import pytest
from playwright.sync_api import Page, expect

PATIENCE = 60_000


def opened(page: Page, url: str, query: str = ""):
    """The page by its link in the navigation: an address below the root asks for files that are not there."""
    page.goto(f"{url}/?{query}")
    page.get_by_role("link", name="Masks & positions").click()
    expect(page.get_by_role("heading", name="Masks & positions", level=1)).to_be_visible(timeout=PATIENCE)


def drawn(page: Page, key: str):
    plot = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(plot).to_be_visible(timeout=PATIENCE)
    return plot


def test_a_cell_says_which_query_may_not_attend_to_which_key_and_why(page, url):
    opened(page, url, "companion=Hi.")
    plot = drawn(page, "mask-batch-decoder")
    plot.scroll_into_view_if_needed()
    area = plot.locator(".nsewdrag").first.bounding_box()
    for inset in (3, 5):
        page.mouse.move(area["x"] + area["width"] - inset, area["y"] + inset)
    hover = plot.locator(".hoverlayer .hovertext")
    expect(hover).to_contain_text("query <s>")
    expect(hover).to_contain_text(re.compile("key .*kept from: future"))


def test_sentences_typed_into_the_batch_are_drawn_and_a_wrong_one_leaves_the_rest(page, url):
    opened(page, url, "text=Hi.")
    drawn(page, "overview-Source")
    field = page.get_by_role("textbox", name=re.compile("Further sentences"))
    field.fill("Tom was late.\n" * 9)
    field.press("Control+Enter")
    expect(page.get_by_text("At most 8 further sentences")).to_be_visible(timeout=PATIENCE)
    drawn(page, "mask-alone-decoder")
    field.fill("Tom was late.")
    field.press("Control+Enter")
    expect(page.locator(".st-key-overview-Source .ytick text")).to_have_count(2, timeout=PATIENCE)


def test_a_slider_is_moved_by_keyboard_and_pictures_and_link_follow(page, url):
    opened(page, url, "part=Positional+encodings&position=4")
    drawn(page, "circle")
    page.get_by_role("slider", name="Position").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label(re.compile("^Position 5: a curve"))).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-circle .legendtext", has_text="pos = 5")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("position=5"))


def test_another_width_is_said_not_to_be_the_models_until_it_is_taken_back(page, url):
    opened(page, url, "part=Positional+encodings")
    drawn(page, "likeness-sums")
    page.get_by_role("slider", name=re.compile("d_model")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Not what the model added")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("width=34"))
    page.get_by_role("button", name="Back to the model's own").click()
    expect(page.get_by_text("This is what the model added")).to_be_visible(timeout=PATIENCE)
    expect(page).not_to_have_url(re.compile("width="))


@pytest.mark.parametrize(("part", "theme"), [("Masks", "dark"), ("Positional+encodings", "light")])
def test_at_800_pixels_no_picture_is_wider_than_the_page(page, url, part, theme):
    page.emulate_media(color_scheme=theme)
    opened(page, url, f"part={part}")
    # Afterwards: a narrow navigation keeps this page in its menu of more pages.
    page.set_viewport_size({"width": 800, "height": 900})
    drawn(page, "mask-batch-cross" if part == "Masks" else "likeness-sums")
    for plot in page.locator(".js-plotly-plot").all():
        box = plot.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 800
