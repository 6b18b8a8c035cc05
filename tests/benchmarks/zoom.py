"""Zoom from the whole model to a number and back: python -m tests.benchmarks.zoom [--runs N].

Prints the times between frames of the walk of the shipped model as a file, without a server. Goals of each run: 17 ms
in the median, at most 1% over 34 ms, none over 50.
"""

import argparse
import shutil
import statistics
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect, sync_playwright

from model.opening import open_reader
from tests.browser.conftest import EXECUTABLES, FLAGS
from tests.paths import ROOT
from viz.pages.learn.transformer import walk, walk_file
from viz.selection.selection import Selection

TEXT: Final = "The animal didn't cross the street because it was too tired."
SIZES: Final = ((1_400, 900), (390, 844))
DEPTHS: Final = ("model", "layer", "head", "cell", "number")
#: Notes of every frame its time and the depth that is shown.
LISTENING: Final = """(scene) => {
  window.noted = [];
  const note = (now) => {
    window.noted.push([now, scene.dataset.depth.split(" ")[0]]);
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""
#: Whether the way to a depth is at its end.
HAS_COME: Final = """(scene, depth) => [...scene.children].every(
  (child) => child.matches(".walk-kept") || child.matches(`.${depth}-scene:not(.walk-aside)`))"""
INNER: Final = (".model-node.followed", ".stratum.open", ".ground.followed", ".product")


def page_of(folder: Path) -> Path:
    """The walk of the shipped model, as a file."""
    reader = open_reader(ROOT / "checkpoints" / "en-de")
    trace = reader.trace(TEXT)
    place = walk.place_in(trace, reader, Selection())
    path = folder / "walk.html"
    path.write_bytes(walk_file.page(trace, reader, place, "walk"))
    return path


def zoomed(page: Page) -> list[tuple[float, str]]:
    """The times between frames while a wheel leads in and keys lead out, each with the depth that is then shown."""
    scene = page.locator(".walk-scene")
    scene.evaluate(LISTENING)
    for depth, inner in zip(DEPTHS[1:], INNER, strict=True):
        part = scene.locator(f"> :not(.walk-kept, .walk-aside) {inner}").nth(8 if depth == "layer" else 0)
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, min(box["y"] + box["height"] / 2, 800))
        page.keyboard.down("Control")
        for _ in range(60):
            if scene.evaluate(HAS_COME, depth):
                break
            page.mouse.wheel(0, -30)
            page.wait_for_timeout(16)
        page.keyboard.up("Control")
        expect(scene.locator(".walk-aside")).to_have_count(0)
        page.wait_for_timeout(700)
    page.locator(".walk").focus()
    for depth in reversed(DEPTHS[:-1]):
        page.keyboard.press("Escape")
        page.wait_for_timeout(700)
        assert (scene.get_attribute("data-depth") or "").startswith(depth)
    noted: list[tuple[float, str]] = page.evaluate("window.noted")
    return [(after - before, depth) for (before, _depth), (after, depth) in pairwise(noted)]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=4)
    runs = parser.parse_args().runs
    executable = next(filter(None, map(shutil.which, EXECUTABLES)), None)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        address = page_of(Path(scratch)).as_uri()
        browser: Any = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        for width, height in SIZES:
            for run in range(runs):
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(address)
                page.locator(".walk[data-ready]").wait_for()
                page.wait_for_timeout(1_000)
                noted = zoomed(page)
                took = [each for each, _depth in noted]
                late = Counter(depth for each, depth in noted if each > 34)
                figures = f"median {statistics.median(took):.1f} ms, at most {max(took):.1f}"
                where = ", ".join(f"{depth} {count}" for depth, count in late.items())
                print(
                    f"{width} px, run {run + 1}: {figures}; {late.total()} of {len(took)} over 34 ms: {where}",
                    flush=True,
                )
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
