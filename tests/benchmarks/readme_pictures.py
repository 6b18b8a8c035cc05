"""Take the moving picture of the README again: python -m tests.benchmarks.readme_pictures --model FOLDER.

By day, in English: a person goes through the first steps of *Start here*, then starts the app with a model of their own
(`--model`, an encoder saved by transformers). Needs Chromium, which draws no pointer: it is drawn here.
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

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE_MS, STORY_IS_CLOSED, find_executable, streamlit_server
from tests.paths import ROOT
from viz.gallery.typefaces import style_sheet

NAME: Final = "headlight.webp"
#: The window in which it is taken: letters can be read where a README shows it 800 pixels wide.
WINDOW: Final = {"width": 960, "height": 600}
SCALE: Final = 1.5
#: Milliseconds that a frame stays: of a sentence to be read, of what is pointed at, of a pointer on its way.
READ, POINTED, MOVED = 4_200, 1_900, 60
#: Frames of a pointer on its way, and the corners of an arrow.
WAY: Final = 5
ARROW: Final = ((0, 0), (0, 17), (4, 13.4), (6.8, 19.6), (9.4, 18.5), (6.6, 12.4), (12, 12.4))
COMMAND: Final = "streamlit run app.py -- path/to/your/model"
SLIDE: Final = """<style>%s body { margin: 0; height: 100vh; display: grid; place-content: center; gap: 22px;
  background: #fdfcf9; color: #1a2033; font: 24px "Headlight Sans"; }
  h1 { font: 600 40px "Headlight Serif"; margin: 0; }
  pre { margin: 0; padding: 20px 26px; border-radius: 8px; min-width: 30em;
  background: #1a2033; color: #fdfcf9; font-size: 24px; }</style><h1>Your own model</h1><pre>$ %s▌</pre>"""


class Film:
    """The frames, each with its milliseconds, and where the pointer is."""

    def __init__(self, page: Page) -> None:
        self.page, self.at = page, (700.0, 420.0)
        self.frames: list[tuple[Image.Image, int]] = []

    def take(self, milliseconds: int) -> None:
        """What the page shows, with the pointer."""
        self.add(self.shot(), self.at, milliseconds)

    def point(self, target: Locator, milliseconds: int = POINTED) -> None:
        """Go to the middle of a part of the page, and see what it answers."""
        before = self.shot()
        box = target.bounding_box()
        assert box is not None
        (left, top), (x, y) = self.at, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for step in range(1, WAY + 1):
            share = step / WAY
            self.at = left + (x - left) * share, top + (y - top) * share
            self.add(before, self.at, MOVED)
        self.page.mouse.move(x, y)
        self.page.wait_for_timeout(500)
        self.take(milliseconds)

    def press(self, target: Locator, drawn: str) -> None:
        """Go there, click, and wait until the page has drawn this, and nothing runs any more."""
        self.point(target, 500)
        self.page.mouse.down()
        self.page.mouse.up()
        settled(self.page, drawn)

    def shot(self) -> Image.Image:
        return Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")

    def add(self, picture: Image.Image, at: tuple[float, float], milliseconds: int) -> None:
        self.frames.append((with_pointer(picture, at), milliseconds))


def with_pointer(picture: Image.Image, at: tuple[float, float]) -> Image.Image:
    """A picture with an arrow, dark with a light edge, smooth by being drawn four times as large."""
    size, fine = 1.35 * SCALE, 4
    arrow = Image.new("RGBA", (round(16 * size) * fine, round(23 * size) * fine))
    corners = [((x + 1.5) * size * fine, (y + 1.5) * size * fine) for x, y in ARROW]
    ImageDraw.Draw(arrow).polygon(corners, "#10131f", "#ffffff", width=round(1.4 * size * fine))
    small = arrow.resize((arrow.width // fine, arrow.height // fine), Image.Resampling.LANCZOS)
    drawn = picture.copy()
    drawn.paste(small, (round(at[0] * SCALE - 1.5 * size), round(at[1] * SCALE - 1.5 * size)), small)
    return drawn


def settled(page: Page, drawn: str) -> None:
    """Wait until a page has drawn this, and nothing runs any more."""
    expect(page.locator(drawn).first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=PATIENCE_MS)
    page.wait_for_timeout(2_500)


def opened(browser: Browser, url: str, *, has_story: bool) -> Film:
    """The app in a window of its own, without the sidebar."""
    context = browser.new_context(
        viewport=WINDOW,  # type: ignore[arg-type]  # a dict of its two numbers
        device_scale_factor=SCALE,
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-GB",
    )
    if not has_story:
        context.add_cookies([STORY_IS_CLOSED])
    page = context.new_page()
    page.goto(url)
    settled(page, ".st-key-open-head [data-ready='1']")
    page.get_by_test_id("stSidebar").hover()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    film = Film(page)
    page.mouse.move(*film.at)
    page.wait_for_timeout(1_500)
    return film


def story(browser: Browser, url: str) -> Iterator[tuple[Image.Image, int]]:
    """“It” is followed to its noun, the noun is changed, and why."""
    film = opened(browser, url, has_story=True)
    page = film.page
    following = page.locator(".story-bar").get_by_role("button", name="Next", exact=True)
    film.take(READ)
    film.point(page.locator(".word-picker .word").get_by_text("es", exact=True))
    film.press(following, ".word-picker .word.to >> text=street")
    film.take(READ)
    film.point(page.locator(".word-picker .word").get_by_text("sie", exact=True))
    film.press(following, ".why[data-ready]")
    film.take(READ)
    for _step in range(2):
        film.press(page.locator(".why .crumb.ahead").first, ".why[data-ready]")
        film.take(POINTED)
    yield from film.frames
    page.context.close()


def own_model(browser: Browser, url: str) -> Iterator[tuple[Image.Image, int]]:
    """A person starts the app with a model of their own, and asks why its head looks where it looks."""
    film = opened(browser, url, has_story=False)
    slide = film.page.context.new_page()
    for written in (0, 20, len(COMMAND)):
        slide.set_content(SLIDE % (style_sheet(), COMMAND[:written]))
        slide.evaluate("document.fonts.ready")
        picture = Image.open(io.BytesIO(slide.screenshot())).convert("RGB")
        yield picture, POINTED if written == len(COMMAND) else 500
    film.take(READ)
    film.press(film.page.get_by_role("link", name="Why?").first, ".why[data-ready]")
    film.take(READ)
    yield from film.frames
    film.page.context.close()


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a folder with an encoder saved by transformers")
    parser.add_argument("--out", type=Path, default=ROOT / ".github", help="where it is written")
    arguments = parser.parse_args()
    frames: list[tuple[Image.Image, int]] = []
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        for take, options in ((story, ()), (own_model, ("--", str(arguments.model.resolve())))):
            with streamlit_server(ROOT / "app.py", options, Path(temporary) / "server.log") as url:
                frames += take(browser, url)
        browser.close()
    path = arguments.out / NAME
    (first, *others), durations = zip(*frames, strict=True)
    first.save(
        path, save_all=True, append_images=others, duration=durations, loop=0, quality=78, method=6, minimize_size=True
    )
    print(f"{path}: {len(frames)} frames, {sum(durations) / 1_000:.0f} s, {path.stat().st_size / 1_000:.0f} kB")


if __name__ == "__main__":
    stopping.leave(main)
