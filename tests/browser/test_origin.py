"""Where a weight comes from, in a real browser: pointing at a key, following it, a switch, by mouse and keyboard."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000
#: Short enough for every key to have a column, with the pieces of the tests' tokenizer.
VIEW = "view=Where+a+weight+comes+from&text=It+was+late."


@pytest.fixture(scope="module")
def url(serve, tiny_checkpoints):
    os.environ["HEADLIGHT_CHECKPOINTS"] = str(tiny_checkpoints)
    try:
        # An option that changes nothing keeps this server apart from those of other checkpoints.
        return serve(ROOT / "app.py", "--browser.serverAddress=127.0.0.1")
    finally:
        del os.environ["HEADLIGHT_CHECKPOINTS"]


def opened(page: Page, url: str, query: str = ""):
    page.goto(f"{url}/?{VIEW}&{query}")
    story = page.locator(".origin-story[data-ready='1']")
    expect(story).to_be_visible(timeout=PATIENCE)
    return story


def ground(story, step: int, column: int):
    return story.locator("li.step").nth(step).locator(f".ground[data-column='{column}']")


def test_pointing_at_a_key_lights_it_in_every_step_and_tells_its_numbers(page, url):
    story = opened(page, url)
    expect(story.locator("li.step")).to_have_count(7)
    story.locator("li.step").nth(3).scroll_into_view_if_needed()
    ground(story, 1, 2).hover()
    for step in range(1, 6):
        expect(ground(story, step, 2)).to_have_class(re.compile(r"\blit\b"))
        expect(ground(story, step, 1)).not_to_have_class(re.compile(r"\blit\b"))
    expect(story.locator(".tooltip")).to_contain_text(re.compile(r"key 3.*q · k.*score.*weight", re.DOTALL))


def test_the_same_key_stands_in_the_same_column_in_every_step(page, url):
    story = opened(page, url)
    lefts = {round(ground(story, step, 3).bounding_box()["x"], 1) for step in range(1, 6)}
    assert len(lefts) == 1


def test_a_click_follows_a_key_and_the_link_remembers_it(page, url):
    story = opened(page, url)
    product = story.locator("li.step").first.locator("svg")
    before = product.inner_html()
    ground(story, 1, 0).click()
    expect(page).to_have_url(re.compile("key_token=0"))
    expect(story.locator("button.key").first).to_have_attribute("aria-pressed", "true")
    assert product.inner_html() != before


def test_a_key_is_followed_without_a_mouse(page, url):
    story = opened(page, url, "key_token=0")
    story.locator("button.key").first.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("key_token=2"))
    expect(story.locator("button.key").nth(2)).to_be_focused()
    expect(story.get_by_role("status")).to_contain_text("weight")


def test_without_the_mask_the_row_is_compared_with_the_models(page, url):
    story = opened(page, url, "site=decoder.self&token=1")
    expect(story.locator(".summary")).not_to_contain_text("Without mask")
    expect(story.locator("rect.cut").first).to_be_attached()
    page.get_by_text("Mask", exact=True).first.click()
    expect(story.locator(".summary")).to_contain_text("Without mask")
    expect(story.locator("rect.cut")).to_have_count(0)
    expect(story.locator("path.mark").first).to_be_attached()
    expect(page).to_have_url(re.compile("masked=False"))


@pytest.mark.parametrize("width", [1400, 800])
def test_nothing_is_wider_than_the_page(page, url, width):
    page.set_viewport_size({"width": width, "height": 1000})
    story = opened(page, url)
    wide = story.evaluate("s => s.scrollWidth - s.clientWidth")
    assert wide <= 0
    pictures = story.locator(".picture")
    assert pictures.evaluate_all("all => all.every(p => p.scrollWidth <= p.clientWidth)")
