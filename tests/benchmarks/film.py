"""How fast the film of a translation is in Chromium: python -m tests.benchmarks.film [--rounds 5].

Prints, as medians, what a press of an arrow key takes (its handler, and until the frame that shows the next step), and
what it takes from a click on another candidate of step 20 to the drawn film of the translation that follows from it.
With the shipped checkpoint; each forced token is another one, so that nothing is known before.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.browser import DEEP, new_page, timed
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT

TEXT = (
    "The animal didn't cross the street because it was too tired, and the man waited for it in front of the old house "
    "until the children came back from school."
)
STEP = 20
PLAYER = "deep('.decode-player')"
# Handler and the frame after it. The key goes where a person's would.
KEYS = """(presses) => new Promise((resolve) => {
  const [handlers, frames] = [[], []];
  const player = deep(".decode-player");
  const next = (i) => {
    if (i === presses) return resolve([handlers, frames, Number(player.dataset.step)]);
    requestAnimationFrame(() => {
      const began = performance.now();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      handlers.push(performance.now() - began);
      const channel = new MessageChannel();
      // A message posted in a frame arrives when that frame is painted.
      requestAnimationFrame(() => {
        channel.port1.onmessage = () => { frames.push(performance.now() - began); setTimeout(() => next(i + 1), 60); };
        channel.port2.postMessage(0);
      });
    });
  };
  next(0);
})"""


def open_film(page: Page, url: str, step: int) -> None:
    page.goto(f"{url}/decode?text={TEXT}&step={step}")
    page.wait_for_function(f"() => {PLAYER}?.dataset.step === '{step}'", timeout=120_000)
    page.wait_for_timeout(1_500)


def measure(page: Page, url: str, rounds: int) -> None:
    page.add_init_script(DEEP)
    open_film(page, url, 0)
    handlers, frames, step = page.evaluate(KEYS, STEP)
    assert step == STEP, f"{STEP} presses moved {step} steps"
    print(f"arrow key, its handler               {statistics.median(handlers):6.1f} ms (most {max(handlers):.1f})")
    print(f"arrow key, until its frame is shown  {statistics.median(frames):6.1f} ms (most {max(frames):.1f})")
    took = []
    for number in range(rounds):
        open_film(page, url, STEP)
        click = f"[...{PLAYER}.querySelectorAll('.bar-row button')][{number + 1}].click()"
        other = f"{PLAYER}?.querySelectorAll('.sentence .column')[{STEP + 1}]?.querySelector('.written.other')"
        took.append(timed(page, click, other))
    print(f"another token at step {STEP}, drawn       {statistics.median(took):6.0f} ms (most {max(took):.0f})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["HEADLIGHT_CHECKPOINTS"] = str(ROOT / "checkpoints")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        streamlit_server(ROOT / "app.py", (), Path(folder) / "server.log") as url,
        new_page(playwright) as page,
    ):
        measure(page, url, arguments.rounds)


if __name__ == "__main__":
    main()
