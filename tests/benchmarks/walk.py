"""How soon and how smoothly the one picture of the Transformer is drawn: python -m tests.benchmarks.walk [--rounds 5].

Prints milliseconds from a click on the tab until the first picture is painted; the times between frames while a wheel
zooms from the model into a number and out again, median and longest; and from a step of Play until its frame is
painted. The model has six layers a side, and the sentence 16 tokens. Takes about two minutes.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.browser import DEEP, TIMED, deep_checkpoint, new_page, sentence
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT

TOKENS = 16
PICTURE = "deep('.walk[data-ready]')"
# A small turn of the wheel a frame, over what lies at a share of the picture, until it stands at the depth.
ZOOM = """([amount, depth]) => new Promise((resolve, reject) => {
  const holder = deep('.walk-scene');
  const times = [];
  const began = performance.now();
  let before = 0;
  const next = (now) => {
    if (before) times.push(now - before);
    before = now;
    const [scene, ...others] = holder.querySelectorAll(":scope > :not(.walk-kept)");
    if (scene.matches(`.${depth}-scene`) && !others.length) return resolve(times);
    if (now - began > 20000) return reject(new Error(`still at ${holder.dataset.depth}`));
    const { left, top, width, height } = holder.getBoundingClientRect();
    const [x, y] = [left + width * 0.8, Math.min(top + height * 0.4, innerHeight - 20)];
    const target = holder.getRootNode().elementFromPoint(x, y) ?? holder;
    const at = { clientX: x, clientY: y, ctrlKey: true, bubbles: true, composed: true, cancelable: true };
    target.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: -amount }));
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""
# A frame ends after its painting, when a message that was posted in it arrives.
PLAY = """() => new Promise((resolve) => {
  const [first, back, play, on] = deep('.walk .transport').querySelectorAll('.button');
  const times = [];
  first.click();
  const next = (i) => {
    if (i === 60) return resolve(times);
    requestAnimationFrame(() => {
      const began = performance.now();
      on.click();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { times.push(performance.now() - began); setTimeout(() => next(i + 1), 30); };
      channel.port2.postMessage(0);
    });
  };
  next(0);
})"""


def first_picture(page: Page, url: str, text: str) -> float:
    """Milliseconds from the click on the tab until the model is painted."""
    page.goto(f"{url}/learn?text={text}")
    page.wait_for_selector("[role=tab][aria-selected=true]", timeout=60_000)
    page.wait_for_timeout(4_000)
    click = "[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === 'The Transformer').click()"
    there = f"{PICTURE}?.querySelector('.model-line.strong')"
    return float(page.evaluate(TIMED, [f"() => {click}", f"() => {there}"]))


def zoom_frames(page: Page) -> tuple[list[float], list[float]]:
    """Times between frames on the way in, and on the way out."""
    ways: tuple[list[float], list[float]] = [], []
    for way, amount, depths in zip(ways, (14, -14), (("head", "number"), ("head", "model")), strict=True):
        for depth in depths:
            way += page.evaluate(ZOOM, [amount, depth])
            page.wait_for_timeout(500)
    return ways


def told(times: list[float]) -> str:
    """Median and longest."""
    return f"{statistics.median(times):.1f} ms, at most {max(times):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder)
        translator = deep_checkpoint(root / "checkpoints")
        os.environ["HEADLIGHT_CHECKPOINTS"] = str(root / "checkpoints")
        print(f"load before: {os.getloadavg()[0]:.1f}", flush=True)
        with streamlit_server(ROOT / "app.py", (), root / "server.log") as url:
            firsts, ins, outs, steps = (list[float]() for _ in range(4))
            for number in range(rounds):
                with new_page(playwright) as page:
                    page.add_init_script(DEEP)
                    firsts.append(first_picture(page, url, sentence(translator, TOKENS, number).replace(" ", "+")))
                    page.wait_for_timeout(1_500)
                    steps += page.evaluate(PLAY)
                    page.wait_for_timeout(1_000)
                    way_in, way_out = zoom_frames(page)
                    ins += way_in
                    outs += way_out
        print(f"first picture after the click: {told(firsts)}")
        for name, times in (("frames on the way in", ins), ("frames on the way out", outs), ("a step of Play", steps)):
            late = sum(time > 33.4 for time in times)
            print(f"{name}: {told(times)}; {late} of {len(times)} above 33 ms")
        print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    stopping.leave(main)
