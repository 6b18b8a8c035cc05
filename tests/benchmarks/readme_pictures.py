"""Take the pictures of the README anew: python -m tests.benchmarks.readme_pictures [--out FOLDER].

By day, in English, as the app opens, with at most 256 colours, which keeps each below 100 kB. Needs Chromium.
"""

import argparse
import io
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.conftest import FLAGS, PATIENCE_MS, find_executable, streamlit_server
from tests.paths import ROOT

WIDTH: Final = 1400
MOST_COLOURS: Final = 256
#: File → the address it shows, what says that its picture is drawn, and how high it is.
PICTURES: Final = {
    "attention.png": ("/", ".st-key-heads .head-grid[data-ready='1']", 1020),
    "decode.png": ("/decode", ".decode-player[data-ready='1']", 1250),
}


def taken(browser: Browser, url: str, address: str, drawn: str, height: int) -> Image.Image:
    """A page as a person sees it who opens it in a window of this height."""
    page = browser.new_page(
        viewport={"width": WIDTH, "height": height}, color_scheme="light", reduced_motion="reduce", locale="en-GB"
    )
    page.goto(url + address)
    expect(page.locator(drawn).first).to_be_visible(timeout=PATIENCE_MS)
    # The sign of a run would be in the picture, and the head is drawn after the grid.
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=PATIENCE_MS)
    page.wait_for_timeout(2_000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return picture


def main() -> None:
    """Both of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / ".github", help="where they are written")
    folder = parser.parse_args().out
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        with streamlit_server(ROOT / "app.py", (), Path(temporary) / "server.log") as url:
            for name, shown in PICTURES.items():
                picture = taken(browser, url, *shown)
                # By coverage, which keeps a colour that few pixels have, such as that of a head.
                few = picture.quantize(MOST_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                few.save(folder / name, optimize=True)
                print(f"{folder / name}: {(folder / name).stat().st_size / 1_000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
