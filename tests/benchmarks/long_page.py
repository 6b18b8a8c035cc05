"""The attention page with a text of 16,384 tokens: python -m tests.benchmarks.long_page [--tokens N] [--models llama].

A model of random weights is saved, the app opens it, and a person types the text, waits for the grid, opens a head,
zooms in until each number is exact, and looks for the next "it". Printed are the seconds that each takes in Chromium,
and how far the server's memory grew above what it took with the model and a short text. Takes about a quarter of an
hour a model.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
import transformers
from playwright.sync_api import Page, expect, sync_playwright

from tests.benchmarks.crowd import resident, youngest_child
from tests.benchmarks.proof.models import LONG_SHAPES, MAX_LONG, Shape, save_model, text_of
from tests.browser.conftest import FLAGS, find_executable, streamlit_server
from tests.paths import ROOT
from viz.selection.catalogue import ROOT_VARIABLE

PATIENCE_MS: Final = 3_600_000
SHORT: Final = "the man and his dog walk along the river"
#: What is timed.
READ, GRID, HEAD = "text read, first head seen", "every head of the grid seen, after that", "another head opened"
FOUND, MORE = "the next “it” found, with exact numbers around", "one more"
#: Between two looks at the server's memory.
EVERY: Final = 0.2

Seconds = dict[str, float]


class Peak:
    """The most memory that a process takes, looked at from a thread."""

    def __init__(self, process: int) -> None:
        self.bytes, self._process, self._over = 0, process, threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self.bytes = max(self.bytes, resident(self._process))

    def stop(self) -> int:
        self._over.set()
        return self.bytes


@contextmanager
def _timed(seconds: Seconds, name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - began
    print(f"  {name}: {seconds[name]:.2f} s", flush=True)


def opened(page: Page, url: str, shape: Shape) -> None:
    """The attention page with the model and a short text."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{url}/?{urlencode({'checkpoint': shape.folder, 'text': SHORT})}")
    expect(page.locator(".st-key-heads [data-ready='1']")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_test_id("stApp")).not_to_have_attribute("data-test-script-state", "running", timeout=PATIENCE_MS)


def walk(page: Page, text: str) -> Seconds:
    """What a person does with a long text, and how long each step takes."""
    seconds: Seconds = {}
    field = page.get_by_role("textbox", name="Text", exact=True)
    grid, head = page.locator(".head-grid"), page.locator(".st-key-open-head .matrix-picture")
    shown = grid.get_attribute("data-shown") or ""
    with _timed(seconds, READ):
        field.fill(text)
        field.press("Control+Enter")
        # The grid of the short text stays until the tiles of the long one begin to come.
        expect(grid).not_to_have_attribute("data-shown", shown, timeout=PATIENCE_MS)
        expect(head).to_have_attribute("data-block", re.compile("^(?!1 1$)"), timeout=PATIENCE_MS)
    with _timed(seconds, GRID):
        expect(page.locator(".head-grid[data-waiting='0']")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator(".cell.waiting")).to_have_count(0, timeout=PATIENCE_MS)
    cells = grid.locator(".cell[data-head]")
    last = cells.nth(cells.count() - 1)
    with _timed(seconds, HEAD):
        before = head.locator(".matrix-title").inner_text()
        last.click()
        expect(head.locator(".matrix-title")).not_to_have_text(before, timeout=PATIENCE_MS)
        expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible(timeout=PATIENCE_MS)
    search = head.get_by_role("searchbox")
    search.fill("it")
    with _timed(seconds, FOUND):
        search.press("Enter")
        expect(head).to_have_attribute("data-block", "1 1", timeout=PATIENCE_MS)
        expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible(timeout=PATIENCE_MS)
    with _timed(seconds, MORE):
        search.press("Enter")
        expect(head.locator(".matrix-found")).to_contain_text("2 of", timeout=PATIENCE_MS)
        expect(page.locator(".matrix-picture[data-exact='1']")).to_be_visible(timeout=PATIENCE_MS)
    return seconds


def held(shape: Shape, tokens: int) -> int:
    """Bytes of the queries, keys and values of a text, in float32."""
    config = transformers.AutoConfig.for_model(shape.model_type, **shape.settings)
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    return int(4 * tokens * config.num_hidden_layers * width * (heads + 2 * key_heads))


def measure(shape: Shape, tokens: int) -> tuple[Seconds, float]:
    """Seconds of each step, and how far the server's memory grew above what it took with the model and a short text, as
    a multiple of the text's queries, keys and values.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        pytest.MonkeyPatch.context() as patch,
    ):
        save_model(shape, Path(folder))
        patch.setenv(ROOT_VARIABLE, folder)
        with streamlit_server(ROOT / "app.py", (), Path(folder) / "server.log") as url:
            server = youngest_child()
            browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
            opened(page, url, shape)
            before, peak = resident(server), Peak(server)
            seconds = walk(page, text_of(shape, tokens))
            browser.close()
            return seconds, (peak.stop() - before) / held(shape, tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(LONG_SHAPES), choices=list(LONG_SHAPES))
    parser.add_argument("--tokens", type=int, default=MAX_LONG)
    arguments = parser.parse_args()
    for name in arguments.models:
        shape = LONG_SHAPES[name]
        print(f"{shape.name}, {arguments.tokens:,} tokens", flush=True)
        _, grown = measure(shape, arguments.tokens)
        size = held(shape, arguments.tokens) / 1e9
        print(
            f"  memory: {grown:.2f} × q, k, v ({size:.2f} GB) more than with a short text, with all that a pass takes"
        )


if __name__ == "__main__":
    stopping.leave(main)
