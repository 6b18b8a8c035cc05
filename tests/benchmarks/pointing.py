"""How soon the attention page answers a pointer: python -m tests.benchmarks.pointing [--rounds 3] [--clicks 50].

Prints the milliseconds from an event over a word of the sentence, a tile or a cell of the open head, with which a frame
begins, until all views that answer it are painted, and how many messages the server got meanwhile; then those from a
click on a word until the browser has painted its answer, and until the server has changed the address. The
models have random weights and the shape that is named. Takes about four minutes.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import os
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright

from model import Transformer, Translator
from model.checkpoint import save_checkpoint
from tests.benchmarks.browser import DEEP, new_page, sentence
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT

#: Tokens, layers, heads.
SHAPES = ((24, 6, 8), (128, 12, 12))
#: Parts of the page, by what finds all places of one kind.
PARTS = {
    "a word": "[...deep('.word-picker').querySelectorAll('.word')]",
    "a tile": "[...deep('.head-grid').querySelectorAll('.cell')]",
    "a cell": "Array(24).fill(deep('.matrix-picture .stage'))",
}
# A frame begins with the event and ends after its painting, when a message that was posted in it arrives.
POINT = """(find) => new Promise((resolve) => {
  const places = eval(find).slice(0, 40);
  const times = [];
  const next = (i) => {
    if (i === places.length) return resolve(times);
    const box = places[i].getBoundingClientRect();
    const share = (i + 0.5) / places.length;
    const [x, y] = [box.left + box.width * share, box.top + box.height * share];
    requestAnimationFrame(() => {
      const began = performance.now();
      const at = { clientX: x, clientY: y, bubbles: true, composed: true, pointerType: "mouse" };
      places[i].dispatchEvent(new PointerEvent("pointermove", at));
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { times.push(performance.now() - began); setTimeout(() => next(i + 1), 30); };
      channel.port2.postMessage(0);
    });
  };
  next(0);
})"""


# Words are clicked one after the other; every click changes the address.
CLICK = """(count) => new Promise((resolve) => {
  const words = [...deep('.word-picker').querySelectorAll('.word')];
  const times = [];
  const next = (i) => {
    if (i === count) return resolve(times);
    const [word, before] = [words[i % words.length], location.search];
    requestAnimationFrame(() => {
      const began = performance.now();
      let painted = 0;
      word.click();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { painted = performance.now() - began; };
      channel.port2.postMessage(0);
      const look = () => {
        if (!painted || location.search === before) return setTimeout(look, 1);
        times.push([painted, performance.now() - began]);
        setTimeout(() => next(i + 1), 500);
      };
      look();
    });
  };
  next(0);
})"""


def checkpoint(root: Path, layers: int, heads: int) -> Translator:
    """A translator of this shape with random weights and the shipped tokenizer."""
    shipped = Translator.load(ROOT / "checkpoints" / "en-de")
    torch.manual_seed(0)
    config = replace(shipped.config, num_layers=layers, num_heads=heads, d_model=24 * heads, d_ff=64)
    save_checkpoint(root / "model", Transformer(config).eval(), shipped.tokenizer, card="For a benchmark.\n")
    return Translator.load(root / "model")


def measure(page: Page, address: str, rounds: int, clicks: int) -> None:
    """Print the median and the longest time for each part of the page, and for clicks."""
    messages: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: messages.append(frame)))
    page.add_init_script(DEEP)
    page.goto(address)
    page.wait_for_selector(".matrix-picture[data-exact='1']", timeout=180_000)
    page.wait_for_timeout(3_000)
    before = len(messages)
    for name, find in PARTS.items():
        times = [time for _ in range(rounds) for time in page.evaluate(POINT, find)]
        print(f"  {name}: {statistics.median(times):.1f} ms, at most {max(times):.1f}", flush=True)
    print(f"  messages to the server: {len(messages) - before}", flush=True)
    page.set_default_timeout(600_000)
    answered = zip(*page.evaluate(CLICK, clicks), strict=True)
    for name, waits in zip(("the browser", "the server"), answered, strict=True):
        print(f"  a click, {name}: {statistics.median(waits):.1f} ms, at most {max(waits):.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clicks", type=int, default=50)
    given = parser.parse_args()
    for tokens, layers, heads in SHAPES:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            translator = checkpoint(Path(folder), layers, heads)
            os.environ["HEADLIGHT_CHECKPOINTS"] = folder
            text = sentence(translator, tokens, 0)
            with (
                streamlit_server(ROOT / "app.py", (), Path(folder) / "server.log") as url,
                new_page(playwright) as page,
            ):
                print(f"{tokens} tokens, {layers} × {heads} heads", flush=True)
                measure(
                    page,
                    f"{url}/?site=encoder.self&layer=0&head=0&text={text.replace(' ', '+')}",
                    given.rounds,
                    given.clicks,
                )


if __name__ == "__main__":
    stopping.leave(main)
