"""How fast the attention page is in Chromium: python -m tests.benchmarks.browser [--tokens 24 128 448] [--rounds 5].

Prints milliseconds from a click to the drawn picture and bytes to the browser, medians, for a model of 6 layers × 8
heads (four of the shipped layers, two of them twice); and of a browser that comes for the first time, until the grid is
drawn. The encoder's sentence has so many tokens; how many the translation has is printed too.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import base64
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Page, Playwright, sync_playwright

from model import Transformer, Translator
from model.checkpoint import save_checkpoint
from tests.browser.conftest import FLAGS, find_executable, streamlit_server
from tests.paths import ROOT

LAYERS = (0, 1, 2, 3, 2, 3)
WORDS = tuple("the man and his dog walk along the river because it is too late to go back to the house".split())  # noqa: SIM905 - a list of twenty strings would be harder to read

# What is drawn when: two frames after the picture says that it shows what was asked for.
TIMED = """([act, isThere]) => new Promise((resolve, reject) => {
  const [start, stop] = [eval(act), eval(isThere)];
  const began = performance.now();
  start();
  const look = () => {
    if (performance.now() - began > 60000) reject(new Error("not drawn within a minute"));
    else if (stop()) requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
    else requestAnimationFrame(look);
  };
  look();
})"""
# Components live in shadow roots.
DEEP = """window.deep = (selector, root = document) => root.querySelector(selector)
  ?? [...root.querySelectorAll("*")].map((host) => host.shadowRoot && deep(selector, host.shadowRoot)).find(Boolean)"""
GRID = "deep('.head-grid')"
PICTURE = "deep('.matrix-picture')"
# Tiles of all three attentions, of which none is that of the sentence before.
KEPT = """(before) => {
  const kept = [...document.querySelectorAll("[class*='st-key-tiles-'] *")]
    .map((host) => host.shadowRoot?.querySelector(".tile-keeper")?.dataset.kept).filter(Boolean);
  return kept.length === 3 && !kept.some((address) => before.includes(address)) && kept;
}"""
# Handler and the frame after it, for sixty places along the diagonal of the picture.
HOVER = """(selector) => new Promise((resolve) => {
  const host = deep(selector);
  const box = host.getBoundingClientRect();
  const times = [];
  const next = (i) => {
    if (i === 60) return resolve(times);
    const [x, y] = [box.left + (box.width * (i + 0.5)) / 60, box.top + (box.height * (i + 0.5)) / 60];
    const began = performance.now();
    const target = host.getRootNode().elementFromPoint(x, y) ?? host;
    const at = { clientX: x, clientY: y, bubbles: true, composed: true };
    for (const type of ["pointermove", "mousemove"]) target.dispatchEvent(new MouseEvent(type, at));
    times.push(performance.now() - began);
    requestAnimationFrame(() => next(i + 1));
  };
  next(0);
})"""


def deep_checkpoint(root: Path) -> Translator:
    """A model of six layers made of the shipped one's, saved as a checkpoint."""
    shipped = Translator.load(ROOT / "checkpoints" / "en-de")
    config = replace(shipped.config, num_layers=len(LAYERS), max_length=600)
    model = Transformer(config)
    weights = dict(shipped.model.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parts = name.split(".")
            if "layers" in parts:
                index = parts.index("layers") + 1
                parts[index] = str(LAYERS[int(parts[index])])
            parameter.copy_(weights[".".join(parts)])
    save_checkpoint(root / "deep", model.eval(), shipped.tokenizer, card="For a benchmark.\n")
    return Translator.load(root / "deep")


def sentence(translator: Translator, tokens: int, number: int) -> str:
    """A text of exactly so many source tokens, another for each number."""
    text = " ".join(WORDS[(number + index) % len(WORDS)] for index in range(tokens - 1))
    assert len(translator.source_ids(text)) == tokens, "each of WORDS must be one piece"
    return text


@contextmanager
def received_bytes(page: Page) -> Iterator[list[bytes]]:
    """What the browser receives through websockets meanwhile."""
    session, messages = page.context.new_cdp_session(page), list[bytes]()

    def take(event: dict[str, Any]) -> None:
        payload = event["response"]["payloadData"]
        messages.append(base64.b64decode(payload) if event["response"]["opcode"] == 2 else payload.encode())

    session.on("Network.webSocketFrameReceived", take)
    session.send("Network.enable")
    yield messages
    session.detach()


def timed(page: Page, act: str, is_there: str) -> float:
    """Milliseconds from the JavaScript `act` until `is_there` is true and drawn."""
    return float(page.evaluate(TIMED, [f"() => {act}", f"() => {is_there}"]))


def measure_page(page: Page, url: str, texts: Sequence[str]) -> dict[str, str]:
    """Our page, with one sentence after the other: what is drawn is new to server and browser each time."""
    page.add_init_script(DEEP)
    began = time.monotonic()
    page.goto(url)
    page.wait_for_selector("[data-ready='1']", timeout=60_000)
    first = time.monotonic() - began
    kept: list[str] = page.wait_for_function(KEPT, arg=[], timeout=60_000).json_value()
    grids, tiles, messages, heads, exacts, hovers = (list[float]() for _ in range(6))
    sizes: list[int] = []
    for text in texts:
        turn_to(page, "Encoder self")
        page.wait_for_timeout(1_000)
        with received_bytes(page) as received:
            field = page.get_by_role("textbox", name="English sentence")
            field.fill(text)
            field.press("Control+Enter")
            kept = page.wait_for_function(KEPT, arg=kept, timeout=180_000).json_value()
            page.wait_for_timeout(1_500)
        tiles.append(max(len(message) for message in received if b"headlight_tile_keeper" in message))
        messages += [len(message) for message in received if b"headlight_head_grid" in message]
        for site in ("Decoder self", "Decoder cross", "Encoder self"):
            grids.append(turn_to(page, site))
            sizes.append(int(page.evaluate(f"{GRID}.dataset.keys")))
            page.wait_for_timeout(1_000)
        for number in range(2):
            drawn, exact = open_head(page, len(grids) + number)
            heads.append(drawn)
            exacts.append(exact)
        hovers += page.evaluate(HOVER, ".head-grid .board")
        progress(f"{len(grids) // 3} of {len(texts)} sentences")
    return {
        "a new browser, address to drawn": f"{1e3 * first:,.0f} ms",
        "grid, click to drawn": f"{statistics.median(grids):,.0f} ms",
        "grid, bytes": f"{(statistics.median(tiles) + statistics.median(messages)) / 1e3:,.0f} kB"
        f" ({statistics.median(tiles) / 1e3:,.0f} of them tiles, sent before the click)",
        "another head, click to drawn": f"{statistics.median(heads):,.0f} ms",
        "… its float32 numbers drawn": f"{statistics.median(exacts):,.0f} ms",
        "hover over the grid": f"{statistics.median(hovers):.1f} ms (most {max(hovers):.1f})",
        "tokens: source, translation": f"{sizes[-1]}, {min(sizes[::3])} to {max(sizes[::3])}",
    }


def progress(line: str) -> None:
    print(f"  … {line}", file=sys.stderr, flush=True)


def turn_to(page: Page, site: str) -> float:
    """Choose an attention; milliseconds until its grid is drawn."""
    if page.get_by_role("radio", name=site).get_attribute("aria-checked") == "true":
        return 0.0
    before = page.evaluate(f"{GRID}.dataset.shown")
    click = f"[...document.querySelectorAll('button')].find((b) => b.textContent.includes('{site}')).click()"
    return timed(page, click, f"{GRID}.dataset.shown !== '{before}'")


def open_head(page: Page, number: int) -> tuple[float, float]:
    """Click a tile; milliseconds until its head is drawn, and of another tile, until it is drawn from float32."""
    took = []
    for index, condition in enumerate(("", " && {}.dataset.exact === '1'")):
        layer, head = (number + 3 * index) % len(LAYERS), (3 * number + index + 1) % 8
        click = f'deep(\'.head-grid .cell[data-layer="{layer}"][data-head="{head}"]\').click()'
        is_there = f"{PICTURE}?.dataset.title.startsWith('L{layer + 1} H{head + 1}')"
        took.append(timed(page, click, is_there + condition.format(PICTURE)))
        page.wait_for_timeout(700)
    drawn, exact = took
    return drawn, exact


@contextmanager
def new_page(playwright: Playwright) -> Iterator[Page]:
    """A tab in a browser of its own, so that what hangs in one does no harm to the next."""
    browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
    yield browser.new_page(viewport={"width": 1400, "height": 1000})
    browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[24, 128, 448], help="at most 460, whose translation is no long text"
    )
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder)
        translator = deep_checkpoint(root / "checkpoints")
        os.environ["HEADLIGHT_CHECKPOINTS"] = str(root / "checkpoints")
        with streamlit_server(ROOT / "app.py", (), root / "server.log") as url:
            for tokens in arguments.tokens:
                progress(f"{tokens} tokens")
                texts = [sentence(translator, tokens, number) for number in range(arguments.rounds)]
                with new_page(playwright) as page:
                    results = measure_page(page, url, texts)
                print(f"\n{tokens} tokens, {len(LAYERS)} × 8 heads")
                for name, result in results.items():
                    print(f"  {name:30} {result}", flush=True)


if __name__ == "__main__":
    stopping.leave(main)
