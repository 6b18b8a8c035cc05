"""The story "Start here": who comes for the first time is led through five steps on the real pages."""

import re
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pointing import box_of, until
from tests.browser.test_chinese import FITS, ROOM_ABOVE, english_in, known_english
from tests.browser.test_first_screen import CONTROLS
from viz.pages.learn.story.bar import story
from viz.text.messages import _ as said_now
from viz.text.messages import speaking

#: CSS pixels that the bar may take.
HEIGHT = 56
#: What each step rings, and the picture of its page.
RINGED = (".st-key-words", ".st-key-words", ".st-key-why", ".st-key-cause-said", ".st-key-text")
PICTURES = (".st-key-heads", ".st-key-heads", ".st-key-why", ".st-key-cause-said", ".st-key-heads")
#: At 390 pixels the text is in the sidebar, which this opens.
NARROW = (*RINGED[:4], "[data-testid='stExpandSidebarButton']")


def bar_of(page: Page) -> Locator:
    return page.locator(".st-key-story-bar .story-bar[data-ready]")


def is_high(part: Locator) -> bool:
    return float(part.evaluate("(element) => element.getBoundingClientRect().top")) <= ROOM_ABOVE


def is_above(ringed: Locator, bar: Locator) -> bool:
    """Whether a bar hides nothing of what is ringed. Of cards that are higher than the window the first is seen."""
    ring, own = box_of(ringed), box_of(bar)
    return ring["y"] + min(ring["height"], 200) <= own["y"]


@pytest.mark.long
def test_who_comes_for_the_first_time_is_led_through_five_steps_by_keyboard(page: Page, app_as_shipped: str) -> None:
    page.context.clear_cookies()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(app_as_shipped)
    bar = bar_of(page)
    following = bar.get_by_role("button", name="Next", exact=True)
    for number, (step, ringed, picture) in enumerate(zip(story().steps, RINGED, PICTURES, strict=True), 1):
        expect(bar).to_contain_text(f"{number} {step.title}")
        expect(page.locator(ringed)).to_have_css("outline-style", "solid")
        # The answer to why is higher than the window.
        expect(page.locator(ringed)).to_be_in_viewport(ratio=0.3 if ringed == ".st-key-why" else 0.8)
        expect(page.locator(picture)).to_be_visible()
        expect(page).to_have_url(re.compile(f"story={number}(&|$)"))
        until(lambda: bar.evaluate("(element) => element.offsetHeight") <= HEIGHT, "the bar is low")
        until(partial(is_high, page.locator(picture)), f"the picture of step {number} is high on the page")
        if number == 2:
            expect(page.locator(".word-picker .word.to")).to_have_text("street")
            expect(bar).to_contain_text("“street”")
        if number == 3:
            expect(bar).to_contain_text("from “it” and “tired”")
        if number == 4:
            expect(bar).to_contain_text("“sie”")
            expect(page.locator(".st-key-cause-cards").get_by_text("Switched off")).to_be_visible()
            until(partial(is_high, page.locator(".st-key-cause-cards")), "the cards are high on the page")
        if number == 1:
            expect(page.locator(".st-key-open-head [data-ready='1']").first).to_be_visible()
            until(lambda: 20 < len(page.evaluate(CONTROLS)) <= 35, "there are few controls")
            following.focus()
        if number < len(story().steps):
            # Whoever goes on by keyboard goes on from where they are, on another page too.
            expect(following).to_be_focused()
            page.keyboard.press("Enter")


@pytest.mark.long
def test_a_step_stays_after_a_reload_and_closed_is_closed_until_help_opens_it(page: Page, app_as_shipped: str) -> None:
    page.context.clear_cookies()
    page.goto(app_as_shipped)
    bar = bar_of(page)
    bar.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator(".word-picker .word.to")).to_have_text("street")
    page.reload()
    expect(bar).to_contain_text("2 Flip it")
    expect(page.locator(".word-picker .word.to")).to_have_text("street")
    # A sentence of one's own is another one than the step's.
    page.locator(".st-key-text textarea").fill("The dog slept because it was tired.")
    page.locator(".st-key-text textarea").blur()
    expect(bar).not_to_contain_text("“street”")
    bar.get_by_role("button", name="Show it").click()
    expect(page.locator(".word-picker .word.to")).to_have_text("street")
    expect(bar).to_contain_text("“street”")
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)
    page.goto(app_as_shipped)
    expect(page.locator("[data-ready='1']").first).to_be_visible()
    expect(page).not_to_have_url(re.compile("story="))
    expect(bar).to_have_count(0)
    # From any page, and with any model.
    page.goto(f"{app_as_shipped}/model?checkpoint=experiments/full")
    page.get_by_role("button", name="Help: the tour").click()
    expect(bar).to_contain_text("1 See it")
    expect(page.locator(".word-picker .word.to")).to_have_text("animal")
    expect(page.locator(".st-key-words")).to_have_css("outline-style", "solid")


@pytest.mark.long
def test_the_story_ends_with_ways_on_one_of_them_where_a_model_can_be_added(
    page: Page, url: str, app_as_shipped: str
) -> None:
    page.goto(f"{url}/?story=5")
    bar = bar_of(page)
    bar.get_by_role("button", name="My model").click()
    expect(page.get_by_role("textbox", name="Folder")).to_be_visible()
    expect(bar).to_have_count(0)
    page.goto(f"{app_as_shipped}/?story=5")
    expect(bar.get_by_role("button", name="Explore")).to_be_visible()
    # Others could reach this server, which then opens no folder that is typed.
    expect(bar.get_by_role("button", name="My model")).to_have_count(0)
    bar.get_by_role("button", name="Learn").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Learn")
    expect(bar).to_have_count(0)


@pytest.mark.long
def test_on_a_narrow_page_in_chinese_the_bar_hides_nothing_that_it_speaks_of(page: Page, app_as_shipped: str) -> None:
    page.context.clear_cookies()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_as_shipped}/?lang=zh")
    bar, known = bar_of(page), known_english()
    with speaking("zh"):
        following = said_now("Next")
    for number, ringed in enumerate(NARROW, 1):
        expect(bar).to_contain_text(re.compile(f"^{number} "))
        expect(page.locator(ringed)).to_have_css("outline-style", "solid")
        expect(page.locator(ringed)).to_be_in_viewport()
        expect(bar).to_be_in_viewport(ratio=1)
        until(partial(is_above, page.locator(ringed), bar), f"the bar of step {number} hides nothing of {ringed}")
        page.wait_for_function(FITS)
        until(lambda: [*english_in([bar.inner_text()], known)] == [], f"step {number} is in Chinese")
        if number < len(NARROW):
            bar.get_by_role("button", name=following, exact=True).click()
