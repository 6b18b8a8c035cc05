"""Point at a sound's open head of 448 tokens × 1,500 frames: python -m tests.benchmarks.hover [--times N].

Prints how long it is from a move to the end of the frame that shows it (goal: 33 ms), at rows and at moments, and what
Chromium does meanwhile, by its own trace.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import EXECUTABLES, FLAGS
from viz.pages.attention.opened_head.sound_panel import COMPONENT, SoundData
from viz.pictures import focus, payload
from viz.pictures.offline import Drawing, Part, text_page

ROWS, FRAMES, RATE, SECONDS_PER_FRAME = 448, 1_500, 16_000, 0.02
FRAME: Final = 33  #: ms
SIZES: Final = ((1_400, 900), (800, 900))
#: Notes, of each move, the milliseconds from its first handler to the end of the frame.
LISTENING: Final = """() => {
  window.moves = [];
  const begin = () => {
    const start = performance.now();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.moves.push(performance.now() - start);
    requestAnimationFrame(() => port2.postMessage(0));
  };
  document.addEventListener("pointermove", begin, { capture: true });
}"""


def page_of(folder: Path) -> Path:
    """A page with nothing but the open head of noise."""
    random = np.random.default_rng(0)
    weights = random.dirichlet(np.full(FRAMES, 0.05), ROWS).astype(np.float32)
    tokens = tuple(f"▁word{row % 17}" for row in range(ROWS))
    data = SoundData(
        samples=random.normal(0, 3_000, round(FRAMES * SECONDS_PER_FRAME * RATE)).astype(np.int16),
        spectrogram=random.integers(0, 256, (80, FRAMES), dtype=np.uint8),
        weights=weights, after=np.zeros(ROWS, np.float32), rate=RATE, seconds_per_frame=SECONDS_PER_FRAME,
        is_filled=False, row_tokens=tokens, rows_write=False, number="weight", title="L1 H1", kept=3,
        rows=focus.FocusAxis("target"),
    )  # fmt: skip
    packed = payload.pack(data)
    print(f"sent: {len(packed) / 1e6:.1f} MB")
    drawing = Drawing([Part(COMPONENT, packed)], 1, "a sound")
    path = folder / "sound.html"
    path.write_text(text_page("Sound", '<div id="picture-0"></div>', drawings=[drawing]), encoding="utf-8")
    return path


def moved(page: Page, times: int, *, at_rows: bool) -> list[float]:
    """What the moves over the rows, or over the sound above them, take."""
    area = page.locator(".cells" if at_rows else ".sound canvas").first
    box = area.bounding_box()
    assert box is not None
    height = min(box["height"], 400)
    page.evaluate("window.moves = []")
    for number in range(times):
        share = (number * 7 % times + 0.5) / times
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + height * (0.3 + 0.6 * share))
        page.wait_for_function("count => window.moves.length >= count", arg=number + 1)
    found: list[float] = page.evaluate("window.moves")
    return found


def longest(trace: bytes) -> str:
    """The most that one move's events, and one frame of the page, took of a processor, in ms, whoever else ran."""
    events = json.loads(trace)["traceEvents"]
    most = (
        max((event.get("tdur", 0) for event in events if event["name"] == name), default=0) / 1_000
        for name in ("EventDispatch", "ProxyMain::BeginMainFrame")
    )
    return "longest of a processor: event {:.1f} ms, frame {:.1f} ms".format(*most)


def busiest(trace: bytes) -> str:
    """What the most time went into, over all threads."""
    spent = Counter[str]()
    for event in json.loads(trace)["traceEvents"]:
        if event.get("ph") == "X":
            spent[event["name"]] += event.get("dur", 0)
    return ", ".join(f"{name} {each / 1_000:.0f}" for name, each in spent.most_common(14))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=60, help="moves")
    times = parser.parse_args().times
    executable = next(filter(None, map(shutil.which, EXECUTABLES)), None)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        address = page_of(Path(scratch)).as_uri()
        browser: Any = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        for width, height in SIZES:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            page.locator(".sound-attention[data-ready]").wait_for()
            page.evaluate(LISTENING)
            for where in ("rows", "moments"):
                browser.start_tracing(page=page, categories=["devtools.timeline", "cc", "viz"])
                took = moved(page, times, at_rows=where == "rows")
                trace = browser.stop_tracing()
                middle, over = statistics.median(took), sum(each > FRAME for each in took)
                numbers = f"median {middle:.1f} ms, at most {max(took):.1f}; {over} of {len(took)} above {FRAME}"
                print(f"{width} px, {where}: {numbers}; {longest(trace)}")
                print(f"  ms in all: {busiest(trace)}", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
