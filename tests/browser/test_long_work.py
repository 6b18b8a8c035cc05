"""Long work that a page waits for: its progress, its Stop, and a click elsewhere meanwhile."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve

DEMO = Path(__file__).parent / "demo_long_work.py"


def units_done(page: Page) -> int:
    """How far the work is, as its bar says."""
    bar = page.get_by_text(re.compile(r"^Computing: \d+ of 600 units$"))
    expect(bar).to_be_visible()
    return int(bar.inner_text().split()[1])


@pytest.mark.long
def test_a_page_that_waits_can_be_stopped_and_goes_on_after_a_click_elsewhere(page: Page, serve: Serve) -> None:
    page.goto(serve(DEMO))
    before = units_done(page)
    page.get_by_role("button", name="Elsewhere").click()
    expect(page.get_by_text(re.compile(rf"^Computing: (?!{before} )\d+ of 600 units$"))).to_be_visible()
    assert units_done(page) > before
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(re.compile(r"^Stopped after \d+ of 600 units\.$"))).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
