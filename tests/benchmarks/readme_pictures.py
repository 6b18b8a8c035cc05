"""Take the moving picture of the README again: python -m tests.benchmarks.readme_pictures [--out FOLDER].

By day, in English: a person points at words, opens another head, and steps through the translation. Needs Chromium.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE_MS, STORY_IS_CLOSED, find_executable, streamlit_server
from tests.paths import ROOT

NAME: Final = "headlight.webp"
#: The window in which it is taken, and how wide the picture is.
WINDOW: Final = (1400, 860)
WIDTH: Final = 1050
#: Milliseconds that a frame stays: the first of a page, one of a person who points, and one of the film.
FIRST, POINTED, STEP = 2_200, 1_300, 700
#: Words of the sentence that are pointed at, and the head that is opened then.
WORDS: Final = ("it", "animal", "street")
HEAD: Final = "L4 H4"
#: The steps of the film, which ends a few after the pronoun.
STEPS: Final = 13


def shot(page: Page) -> Image.Image:
    """What the page shows, as wide as the picture."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return picture.resize((WIDTH, round(WIDTH * picture.height / picture.width)), Image.Resampling.LANCZOS)


def settled(page: Page, drawn: str) -> None:
    """Wait until a page has drawn this, and nothing runs any more."""
    expect(page.locator(drawn).first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=PATIENCE_MS)
    page.wait_for_timeout(2_000)


def frames(browser: Browser, url: str) -> Iterator[tuple[Image.Image, int]]:
    """Each frame with its milliseconds."""
    context = browser.new_context(
        viewport={"width": WINDOW[0], "height": WINDOW[1]},
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-GB",
    )
    context.add_cookies([STORY_IS_CLOSED])
    page = context.new_page()
    page.goto(url)
    settled(page, ".st-key-open-head [data-ready='1']")
    yield shot(page), FIRST
    for word in WORDS:
        page.locator(".word-picker").get_by_text(word, exact=True).hover()
        page.wait_for_timeout(400)
        yield shot(page), POINTED
    page.mouse.move(0, 0)
    page.get_by_role("gridcell", name=HEAD).click()
    settled(page, ".st-key-open-head [data-ready='1']")
    yield shot(page), FIRST
    page.goto(f"{url}/decode?step=0")
    settled(page, ".decode-player[data-ready='1']")
    for _ in range(STEPS):
        yield shot(page), STEP
        page.get_by_role("slider", name="Step").press("ArrowRight")
        page.wait_for_timeout(400)
    yield shot(page), FIRST
    context.close()


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / ".github", help="where it is written")
    path = parser.parse_args().out / NAME
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        with streamlit_server(ROOT / "app.py", (), Path(temporary) / "server.log") as url:
            pictures, durations = zip(*frames(browser, url), strict=True)
        browser.close()
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=75,
        method=6,
        minimize_size=True,
    )
    print(f"{path}: {len(pictures)} frames, {path.stat().st_size / 1_000:.0f} kB")


if __name__ == "__main__":
    stopping.leave(main)
