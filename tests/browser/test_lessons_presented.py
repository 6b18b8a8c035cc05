"""Every step of every lesson on a projector: nothing cut off, letters of 18 pixels at least, the keys of a clicker."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_lessons import PREDICT
from tests.browser.test_present import MEASURED, SIZES, SMALLEST, presented
from viz.pages.learn.lessons.lesson import lessons


@pytest.mark.parametrize("lesson", lessons())
def test_every_step_of_a_lesson_fits_a_projector(page: Page, app_as_shipped: str, lesson: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    problems = []
    presented(page, f"{app_as_shipped}/learn?present=1&lesson={lesson}", ".st-key-lesson-step")
    for number, step in enumerate(lessons()[lesson].steps, 1):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        if step.question is not None:
            expect(page.get_by_text(PREDICT)).to_be_visible()
            page.locator(".st-key-answer").get_by_role("radio").first.click()
            expect(page.get_by_text(PREDICT)).to_have_count(0)
        expect(page.locator(f".st-key-lesson-{lesson}-{number}")).to_be_visible()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(60)
            found = page.evaluate(MEASURED)
            if max(found["over"]) > 0 or found["smallest"] < SMALLEST:
                problems.append((step.title, width, found))
        if number < len(lessons()[lesson].steps):
            page.keyboard.press("PageDown")
    assert problems == []
