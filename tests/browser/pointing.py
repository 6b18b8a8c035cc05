"""Ask a page until it answers, and point at a chart until it does. Knows nothing of what they show."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from playwright.sync_api import Error, FloatRect, Locator, Page, TimeoutError

from tests.browser.conftest import TWO_FRAMES, settled
from tests.patience import PATIENCE

#: As long as `expect` waits.
SECONDS = PATIENCE / 2
ANSWER_MS = 2_000
Answer = TypeVar("Answer")


def until(is_so: Callable[[], Answer], what: str) -> Answer:
    """Ask until the answer is true, and return it: what is drawn anew has no box, and other elements, for a moment.

    An element of the run before beside the new one is no answer yet. Raises an AssertionError with what was waited for
    if it was not true for as long as a test waits.
    """
    deadline = time.monotonic() + SECONDS
    while True:
        with suppress(Error):
            if answer := is_so():
                return answer
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def at_rest(page: Page) -> None:
    """Wait until a page has drawn everything and loaded nothing for half a second.

    Playwright's "networkidle" may wait for ever in a tab whose last page was left while it loaded.
    """
    settled(page)
    loaded = "performance.getEntriesByType('resource').length"

    def is_at_rest() -> bool:
        before = page.evaluate(loaded)
        page.wait_for_timeout(500)
        return bool(page.evaluate(loaded) == before)

    until(is_at_rest, "the page loads nothing more")


def box_of(part: Locator) -> FloatRect:
    """Where a part stands on the page, in CSS pixels, once it is there and stands still."""

    def still() -> FloatRect | None:
        before = part.bounding_box()
        part.page.evaluate(TWO_FRAMES)
        return before if before == part.bounding_box() else None

    box = until(still, f"{part} stands still on the page")
    assert box is not None
    return box


def shows(parts: Locator, script: str, answer: object) -> bool:
    """Whether a script says this of the list of all these parts."""
    return bool(parts.evaluate_all(script) == answer)


def pointed_until(part: Locator, answer: Locator) -> None:
    """Point at a part until its answer is there: what is drawn above meanwhile pushes it away from a still pointer.

    Raises:
        TimeoutError: nothing answered for as long as a test waits.
    """
    deadline = time.monotonic() + SECONDS
    while True:
        part.page.mouse.move(0, 0)
        part.hover()
        try:
            answer.first.wait_for(state="attached", timeout=ANSWER_MS)
        except TimeoutError:
            if time.monotonic() > deadline:
                raise
        else:
            return
