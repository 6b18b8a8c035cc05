"""Where a weight comes from, in a real browser: pointing at a key, following it, a switch, by mouse and keyboard."""

import re
from urllib.parse import urlencode
from xml.etree import ElementTree

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import box_of
from tests.browser.saving import save_button

#: With the pieces of the tests' tokenizer, every key of the one has a column, and many of the other's are summed up.
SHORT, LONG = "It was late.", "The animal didn't cross the street because it was too tired."


def opened(page: Page, url: str, text: str = SHORT, **chosen: str | int) -> Locator:
    visit(page, f"{url}/?{urlencode({'view': 'Where a weight comes from', 'text': text, **chosen})}")
    story = page.locator(".origin-story[data-ready='1']")
    expect(story).to_be_visible()
    return story


def ground(story: Locator, step: int, column: int) -> Locator:
    return story.locator("li.step").nth(step).locator(f".ground[data-column='{column}']")


def assert_aligned_at_any_width(page: Page, story: Locator) -> None:
    """At any width a key has one column in all steps, and nothing is cut off."""
    for width in (800, 1400):
        page.set_viewport_size({"width": width, "height": 1000})
        expect(story).to_have_class(re.compile(r"\bwide\b") if width == 1400 else re.compile(r"story$"))
        lefts = [box_of(ground(story, step, 3))["x"] for step in range(1, 6)]
        assert max(lefts) - min(lefts) < 0.1, width
        assert story.evaluate("story => story.scrollWidth <= story.clientWidth"), width
        assert story.locator(".picture").evaluate_all("all => all.every((p) => p.scrollWidth <= p.clientWidth)"), width


def test_few_keys_stay_aligned_are_pointed_at_and_followed_and_saved_above_their_pictures(page: Page, url: str) -> None:
    story = opened(page, url, layer=0)
    assert_aligned_at_any_width(page, story)
    expect(story.locator("li.step")).to_have_count(7)
    story.locator("li.step").nth(3).scroll_into_view_if_needed()
    ground(story, 1, 2).hover()
    for step in range(1, 6):
        expect(ground(story, step, 2)).to_have_class(re.compile(r"\blit\b"))
        expect(ground(story, step, 1)).not_to_have_class(re.compile(r"\blit\b"))
    expect(story.locator(".tooltip")).to_contain_text(re.compile(r"key 3.*q · k.*score.*weight", re.DOTALL))
    # A click follows a key, and the link remembers it.
    product = story.locator("li.step").first.locator("svg")
    before = product.inner_html()
    ground(story, 1, 0).click()
    expect(page).to_have_url(re.compile("key_token=0"))
    expect(story.locator("button.key").first).to_have_attribute("aria-pressed", "true")
    assert product.inner_html() != before
    with page.expect_download() as download:
        save_button(story, "SVG").click()
    assert re.fullmatch(
        r"headlight-origin-encoder-self-l1h1-row\d+-it-was-late\.svg", download.value.suggested_filename
    )
    svg = ElementTree.fromstring(download.value.path().read_bytes())
    drawings = list(svg.iter("{http://www.w3.org/2000/svg}svg"))
    assert len(drawings) > 7
    assert all("class" not in part.attrib for part in svg.iter())
    turned = [text for text in svg.iter("{http://www.w3.org/2000/svg}text") if "rotate" in text.get("transform", "")]
    keys = story.locator("button.key").all_inner_texts()
    assert [text.text for text in turned if text.text in keys] == keys


def test_many_keys_stay_aligned_and_one_is_followed_without_a_mouse_and_keeps_the_focus(page: Page, url: str) -> None:
    story = opened(page, url, LONG, key_token=0)
    assert_aligned_at_any_width(page, story)
    expect(story.locator(".rest")).to_be_visible()
    story.locator("button.key").first.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page).not_to_have_url(re.compile("key_token=0"))
    expect(story.locator("button.key:focus")).to_have_attribute("aria-pressed", "true")
    expect(story.get_by_role("status")).to_contain_text("weight")


def test_without_the_mask_the_row_is_compared_with_the_models(page: Page, url: str) -> None:
    story = opened(page, url, site="decoder.self", token=1)
    expect(story.locator(".summary")).not_to_contain_text("Without mask")
    expect(story.locator("rect.cut").first).to_be_attached()
    page.get_by_text("Mask", exact=True).first.click()
    expect(story.locator(".summary")).to_contain_text("Without mask")
    expect(story.locator("rect.cut")).to_have_count(0)
    expect(story.locator("path.mark").first).to_be_attached()
    expect(page).to_have_url(re.compile("masked=False"))
