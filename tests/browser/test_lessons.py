"""A lesson in the browser: its address, a prediction, the verdict of the model that ships, and the full page.

On a projector too: nothing cut off, letters of 18 pixels at least, the keys of a clicker. All walks are in this one
file, so that one server computes every view once.
"""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_present import SIZES as PROJECTORS
from tests.browser.test_present import SMALLEST, fitted, presented
from viz.pages.learn.lessons.lesson import lessons

PREDICT = "Predict first"


def opened(page: Page, url: str, lesson: str, step: int) -> None:
    page.goto(f"{url}/learn?lesson={lesson}&step_of_lesson={step}")
    expect(page.get_by_role("heading", name=lessons()[lesson].steps[step - 1].title)).to_be_visible()


def picture_of(page: Page, lesson: str, number: int) -> Locator:
    return page.locator(f".st-key-lesson-{lesson}-{number}")


def seen(page: Page, lesson: str, number: int) -> None:
    """The step with its picture, its question answered."""
    step = lessons()[lesson].steps[number - 1]
    expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
    if step.question is not None:
        expect(page.get_by_text(PREDICT)).to_be_visible()
        page.locator(".st-key-answer").get_by_role("radio").first.click()
        expect(page.get_by_text(PREDICT)).to_have_count(0)
    expect(picture_of(page, lesson, number)).to_be_visible()


def test_a_prediction_is_answered_by_the_model_and_stays_in_the_address(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "it", 2)
    picture = page.locator(".st-key-lesson-it-2")
    expect(page.get_by_text(PREDICT)).to_be_visible()
    expect(picture).to_have_count(0)
    page.locator(".st-key-answer").get_by_text("animal").click()
    expect(page.get_by_text("The model says: street.")).to_be_visible()
    expect(picture).to_be_visible()
    page.locator(".st-key-answer").get_by_text("street").click()
    expect(page.get_by_text("Right.")).to_be_visible()
    expect(page).to_have_url(re.compile("answer=2"))
    page.reload()
    expect(page.get_by_text("Right.")).to_be_visible()
    expect(picture).to_be_visible()


def test_a_lesson_is_walked_by_keyboard(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "look-up", 1)
    following = page.locator(".st-key-lesson-next button")
    following.focus()
    for step in lessons()["look-up"].steps[1:3]:
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=step.title)).to_be_visible()
        # Whoever goes on by keyboard goes on from where they are.
        expect(following).to_be_focused()
    expect(page).to_have_url(re.compile("step_of_lesson=3"))


def test_the_button_leads_to_the_same_view_on_its_page(page: Page, app_as_shipped: str) -> None:
    opened(page, app_as_shipped, "many-heads", 2)
    page.get_by_role("button", name="Open on the page Attention").click()
    expect(page.get_by_role("heading", name="Attention", exact=True)).to_be_visible()
    expect(page.locator(".st-key-open-head")).to_contain_text("previous token")


SIZES = ((1400, 1000), (800, 1000))


def test_every_step_of_every_lesson_fits_a_wide_and_a_narrow_page(page: Page, app_as_shipped: str) -> None:
    """From lesson to lesson by “Next”, as a person goes who reads them all."""
    opened(page, app_as_shipped, next(iter(lessons())), 1)
    for name, lesson in lessons().items():
        for number, step in enumerate(lesson.steps, 1):
            seen(page, name, number)
            # Once a lesson the wide page too: whatever is drawn is drawn anew for another size.
            for width, height in SIZES if number == 1 else SIZES[1:]:
                page.set_viewport_size({"width": width, "height": height})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (step.title, width)
                right = picture_of(page, name, number).evaluate("(element) => element.getBoundingClientRect().right")
                assert right <= width, (step.title, width, right)
            assert page.get_by_test_id("stException").count() == 0
            # What the model does not bear out would be said in an alert of its own.
            assert page.get_by_test_id("stAlert").count() == (step.question is not None), step.title
            following = page.locator(".st-key-lesson-next button")
            if following.is_enabled():
                following.click()


@pytest.mark.parametrize("lesson", lessons())
def test_every_step_of_a_lesson_fits_a_projector(page: Page, app_as_shipped: str, lesson: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    problems, sizes = [], list(reversed(PROJECTORS))
    presented(page, f"{app_as_shipped}/learn?present=1&lesson={lesson}", ".st-key-lesson-step")
    for number, step in enumerate(lessons()[lesson].steps, 1):
        seen(page, lesson, number)
        sizes.reverse()
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            found = fitted(page)
            if max(found["over"]) > 0 or found["smallest"] < SMALLEST - 0.01:
                problems.append((step.title, width, found))
        if number < len(lessons()[lesson].steps):
            page.keyboard.press("PageDown")
    assert problems == []
