"""What has to be read can be: letters stand out from their ground by day and by night; no tab is out of sight."""

import re
from functools import partial
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import visit
from tests.browser.pointing import until

#: Least contrast of small letters and their ground (WCAG 2.2, 1.4.3).
LEAST = 4.5
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
#: What is read → where it stands.
READ = {
    "explanation": "[data-testid='stMain'] [data-testid='stCaptionContainer'] p",
    "explanation on the sidebar": "[data-testid='stSidebar'] [data-testid='stCaptionContainer'] p",
    "button that counts most": "[data-testid='stBaseButton-primary'] p",
    "chosen option": "[data-testid='stMain'] [role='radio'][aria-checked='true'] p",
    "open tab": "[role='tab'][aria-selected='true'] p",
}
#: Contrast of an element's letters with what lies below them, as a browser computes both.
CONTRAST = """(element) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha: alpha / 255 };
  };
  const over = (above, alpha, below) => above.map((part, i) => part * alpha + below[i] * (1 - alpha));
  const around = [];
  for (let node = element; node; node = node.parentElement) around.unshift(getComputedStyle(node));
  let ground = [255, 255, 255];
  let opacity = 1;
  for (const style of around) {
    opacity *= Number(style.opacity);
    const { rgb, alpha } = channels(style.backgroundColor);
    ground = over(rgb, alpha * opacity, ground);
  }
  const { rgb, alpha } = channels(around.at(-1).color);
  const light = (colour) => {
    const [red, green, blue] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, bright] = [light(over(rgb, alpha * opacity, ground)), light(ground)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}"""


def stands_out(letters: Locator) -> bool:
    return bool(letters.evaluate(CONTRAST) >= LEAST)


@pytest.mark.long
def test_small_letters_stand_out_from_their_ground(page: Page, url: str) -> None:
    visit(page, url)
    expect(page.locator(".st-key-heads .head-grid")).to_have_attribute("data-ready", "1")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
        for name, selector in READ.items():
            letters = page.locator(selector).first
            expect(letters).to_be_visible()
            until(partial(stands_out, letters), f"{name} can be read, {theme}")


RIGHT = "(part) => part.getBoundingClientRect().right"


def ends_before(part: Locator, edge: float) -> bool:
    return bool(part.evaluate(RIGHT) <= edge)


@pytest.mark.long
def test_on_a_narrow_page_the_open_tab_is_in_sight_and_all_others_can_be_pressed(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 800, "height": 900})
    visit(page, f"{url}/decode?studio=Inside")
    expect(page.get_by_role("tab", name="Inside")).to_have_attribute("aria-selected", "true")
    right_edge = page.get_by_role("tablist").evaluate(RIGHT)
    for tab in page.get_by_role("tab").all():
        expect(tab).to_be_in_viewport(ratio=1)
        until(partial(ends_before, tab, right_edge + 1), "the tab is not behind the edge of its list")
    page.get_by_role("tab", name="Film").click()
    expect(page).not_to_have_url(re.compile("studio"))
