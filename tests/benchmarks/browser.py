"""How fast the attention page is in Chromium: python -m tests.benchmarks.browser [--tokens 24 128 512] [--rounds 5].

Prints milliseconds from a click to the drawn picture and bytes to the browser, medians, for a model of 6 layers × 8
heads (the shipped layers, two of them twice), and in the same run what bertviz's own views take for the same weights.
"""

import argparse
import base64
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Playwright, sync_playwright

from model import Trace, Transformer, Translator
from model.checkpoint import save_checkpoint
from tests.browser.conftest import FLAGS, ROOT, find_executable, streamlit_server
from viz import bertviz_view
from viz.choices import BERTVIZ

LAYERS = (0, 1, 2, 3, 2, 3)
WORDS = tuple("the man and his dog walk along the river because it is too late to go back to the house".split())  # noqa: SIM905 - a list of twenty strings would be harder to read
BERTVIZ_SECONDS = 60

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
CHART = "document.querySelector('.st-key-open-head .js-plotly-plot')"
TWO_FRAMES_LATER = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
  () => done(performance.timeOrigin + performance.now()))))"""
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
                place = parts.index("layers") + 1
                parts[place] = str(LAYERS[int(parts[place])])
            parameter.copy_(weights[".".join(parts)])
    save_checkpoint(root / "deep", model.eval(), shipped.tokenizer, card="For a benchmark.\n")
    return Translator.load(root / "deep")


def sentence(translator: Translator, tokens: int, number: int) -> str:
    """A text of exactly so many source tokens, another for each number."""
    text = " ".join(WORDS[(number + place) % len(WORDS)] for place in range(tokens - 1))
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
    page.goto(url)
    page.wait_for_selector("[data-ready='1']", timeout=60_000)
    grids, sizes, heads, hovers = list[float](), list[float](), list[float](), list[float]()
    for text in texts:
        turn_to(page, "Encoder self")
        before = page.evaluate(f"{GRID}.dataset.shown")
        field = page.get_by_role("textbox", name="English sentence")
        field.fill(text)
        field.press("Control+Enter")
        page.wait_for_function(f"() => {GRID}?.dataset.shown !== '{before}'", timeout=120_000)
        page.wait_for_timeout(1_500)
        for site in ("Decoder self", "Decoder cross"):
            with received_bytes(page) as messages:
                grids.append(turn_to(page, site))
                page.wait_for_timeout(1_000)
            sizes.append(max(len(message) for message in messages if b"headlight_head_grid" in message))
        heads += [open_head(page, len(grids) + number) for number in range(2)]
        hovers += page.evaluate(HOVER, ".head-grid .board")
    return {
        "grid, click to drawn": f"{statistics.median(grids):,.0f} ms",
        "grid, bytes": f"{statistics.median(sizes) / 1e3:,.0f} kB",
        "another head as heatmap": f"{statistics.median(heads):,.0f} ms",
        "hover over the grid": f"{statistics.median(hovers):.1f} ms (most {max(hovers):.1f})",
    }


def turn_to(page: Page, site: str) -> float:
    """Choose an attention; milliseconds until its grid is drawn."""
    if page.get_by_role("radio", name=site).get_attribute("aria-checked") == "true":
        return 0.0
    before = page.evaluate(f"{GRID}.dataset.shown")
    click = f"[...document.querySelectorAll('button')].find((b) => b.textContent.includes('{site}')).click()"
    return timed(page, click, f"{GRID}.dataset.shown !== '{before}'")


def open_head(page: Page, number: int) -> float:
    """Click a tile; milliseconds until the heatmap is that of its head."""
    layer, head = number % len(LAYERS), (3 * number + 1) % 8
    click = f'deep(\'.head-grid .cell[data-layer="{layer}"][data-head="{head}"]\').click()'
    title = f"Layer {layer + 1} · Head {head + 1}"
    took = timed(page, click, f"{CHART}?.data?.[0]?.hovertemplate?.includes('{title}')")
    page.wait_for_timeout(700)
    return took


def measure_bertviz(page: Page, translator: Translator, text: str, folder: Path) -> dict[str, str]:
    """bertviz's own views of the encoder's attention, from opening the page to its last line drawn."""
    # The app offers them for short sentences only.
    setattr(bertviz_view, "MAX_TOKENS", 10_000)  # noqa: B010
    trace = translator.trace(text)
    return {f"bertviz, {view.lower()}": draw_bertviz(page, trace, view, folder) for view in BERTVIZ}


def draw_bertviz(page: Page, trace: Trace, view: str, folder: Path) -> str:
    file = folder / "bertviz.html"
    file.write_text(bertviz_view.bertviz_page(trace, "encoder.self", view, layer=0, dark=False), encoding="utf-8")
    size = f"{file.stat().st_size / 1e6:,.1f} MB"
    try:
        page.goto("about:blank")
        began = float(page.evaluate("performance.timeOrigin + performance.now()"))
        page.goto(file.as_uri(), timeout=1_000 * BERTVIZ_SECONDS)
        page.wait_for_selector("svg line", state="attached", timeout=1_000 * BERTVIZ_SECONDS)
        ended = float(page.evaluate(TWO_FRAMES_LATER))
    except PlaywrightError:
        return f"not drawn within {BERTVIZ_SECONDS} s, {size}"
    return f"{ended - began:,.0f} ms, {size}"


@contextmanager
def new_page(playwright: Playwright) -> Iterator[Page]:
    """A tab in a browser of its own, so that what hangs in one does no harm to the next."""
    browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
    yield browser.new_page(viewport={"width": 1400, "height": 1000})
    browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, nargs="+", default=[24, 128, 512])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder)
        translator = deep_checkpoint(root / "checkpoints")
        os.environ["HEADLIGHT_CHECKPOINTS"] = str(root / "checkpoints")
        with streamlit_server(ROOT / "app.py", (), root / "server.log") as url:
            for tokens in arguments.tokens:
                texts = [sentence(translator, tokens, number) for number in range(arguments.rounds)]
                with new_page(playwright) as page:
                    results = measure_page(page, url, texts)
                with new_page(playwright) as page:
                    results |= measure_bertviz(page, translator, texts[0], root)
                print(f"\n{tokens} tokens, {len(LAYERS)} × 8 heads")
                for name, result in results.items():
                    print(f"  {name:28} {result}", flush=True)


if __name__ == "__main__":
    main()
