"""The lab's measurements in a real browser: a file of one's own, a stop that stops, heads switched off by keyboard."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

LINE = "Tom told Anna that {} was late at {}.\t{}\tTom\tAnna"


def opened(page: Page, url: str, **chosen: str) -> None:
    page.goto(f"{url}/compare?{urlencode({'text': 'It was late.', **chosen})}")
    expect(page.get_by_role("tab", name="Measured")).to_be_visible()


def upload(page: Page, name: str, content: str) -> None:
    chooser = page.locator(".st-key-measured-file input[type=file]")
    chooser.set_input_files({"name": name, "mimeType": "text/plain", "buffer": content.encode()})


@pytest.mark.long
def test_a_file_that_is_none_is_refused_and_another_is_measured_and_its_bad_line_listed(page: Page, url: str) -> None:
    opened(page, url, lab="Measured", given="file")
    upload(page, "picture.tsv", "\0\1\2 nothing")
    expect(page.get_by_role("alert")).to_contain_text("contains no row")
    lines = [LINE.format(word, place, word) for word in ("he", "she") for place in ("home", "work")]
    upload(page, "mine.tsv", "\n".join([*lines, "<b>bad</b>"]))
    expect(page.get_by_text("1 line is skipped")).to_be_visible()
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_role("table", name="Accuracies compared")).to_be_visible()
    expect(page.get_by_text("No sentence of this set has German")).to_be_visible()
    page.get_by_role("radio", name="Curated set").click()
    expect(page.get_by_text("The model's own preference")).to_be_visible()


@pytest.mark.long
def test_a_head_is_switched_off_by_keyboard_and_the_link_remembers_it(page: Page, url: str) -> None:
    opened(page, url, lab="Cause")
    page.get_by_text("Switch several heads off together").click()
    head = page.locator(".st-key-off-e-1 button").nth(2)
    head.focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile(r"off=e-1-2"))
    expect(page.get_by_text("heads is off: encoder L2 H3.")).to_be_visible()
    expect(page.get_by_text(re.compile("The choice (flips|does not flip)"))).to_be_visible()
