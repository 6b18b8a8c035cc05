"""From `streamlit run app.py` to the first grid of heads: python -m tests.benchmarks.first_picture [--beside FOLDER].

Starts the server in a new process, with a browser waiting, opens the attention page as soon as the server answers, and
prints when its title was there and when the grid was drawn, and how long it takes to come back from another page; then
again with the server warm, in a new tab and in a new browser, and the bytes that came through the websocket. `--beside`
names another checkout, measured in turns with this one: on a busy machine only the ratio of the two says anything.
Takes about half a minute a round.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.browser import received_bytes
from tests.browser.conftest import FLAGS, SERVER_OPTIONS, find_executable, free_port
from tests.paths import ROOT

PATIENCE = 120.0
# Wall-clock times of what a person sees, each noted in the frame after it is there.
WATCH = """
window.seen = {};
const now = () => performance.timeOrigin + performance.now();
const Socket = WebSocket;
// What came through the socket, and when: the names of elements stand in messages as they are.
window.WebSocket = class extends Socket {
  constructor(...given) {
    super(...given);
    seen["Streamlit's scripts run"] = now();
    this.addEventListener("open", () => { seen.connected = now(); });
    this.addEventListener("message", ({ data }) => {
      seen["first message"] ??= now();
      if (data instanceof ArrayBuffer && new TextDecoder("latin1").decode(data).includes("headlight_head_grid"))
        seen["the grid's message"] ??= now();
    });
  }
};
window.there = {
  title: () => document.querySelector("h1"),
  grid: () => [...document.querySelectorAll(".st-key-heads *")]
    .some((host) => host.shadowRoot?.querySelector(".head-grid[data-ready='1']")),
  head: () => [...document.querySelectorAll(".stApp *")]
    .some((host) => host.shadowRoot?.querySelector(".matrix-picture[data-title]")),
};
const look = () => {
  for (const [name, isThere] of Object.entries(there)) {
    if (!(name in seen) && isThere()) {
      seen[name] = 0;
      requestAnimationFrame(() => { seen[name] = now(); });
    }
  }
  if (!seen.title || !seen.grid || !seen.head) requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
# Bytes of the scripts that came as files, and not from the browser's own cache.
FETCHED = """performance.getEntriesByType("resource")
  .filter(({ name, transferSize }) => name.includes("/headlight-scripts/") && transferSize > 0)
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"""
# Presses the link of a page in the bar, and tells the milliseconds until its grid is drawn.
BACK = """name => new Promise(resolve => {
  const began = performance.now();
  const look = () => there.grid() ? requestAnimationFrame(() => resolve(performance.now() - began)) : again();
  const again = () => requestAnimationFrame(look);
  [...document.querySelectorAll("a")].find(({ innerText }) => innerText === name).click();
  again();
})"""
Seconds = dict[str, float]


@contextmanager
def started(checkout: Path, folder: Path) -> Iterator[tuple[str, float, float]]:
    """A server of a checkout: its address, when its process was started, and when it first answered."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", *SERVER_OPTIONS]
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        began = time.time()
        process = subprocess.Popen(
            command, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)}, stdout=log, stderr=log
        )
        try:
            while not _answers(url):
                if process.poll() is not None or time.time() - began > PATIENCE:
                    raise RuntimeError(
                        f"The server did not start: {(folder / 'server.log').read_text(encoding='utf-8')[-3000:]}"
                    )
                time.sleep(0.01)
            yield url, began, time.time()
        finally:
            process.terminate()
            process.wait(timeout=30)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def visit(context: BrowserContext, url: str, began: float | None = None) -> tuple[Seconds, Seconds]:
    """Open the page in a new tab: seconds until title, grid and open head are drawn, and kilobytes received.

    Args:
        context: of the browser.
        url: of the page.
        began: counts from this moment; from the navigation by default.
    """
    page = context.new_page()
    page.add_init_script(WATCH)
    with received_bytes(page) as messages:
        start = time.time() if began is None else began
        page.goto(url, wait_until="commit")
        page.wait_for_function("window.seen?.grid && window.seen.title && window.seen.head", timeout=1_000 * PATIENCE)
        page.wait_for_timeout(1_500)
    seen: Seconds = page.evaluate("seen")
    received = sizes(messages) | {"script files": page.evaluate(FETCHED) / 1e3}
    page.get_by_role("link", name="Decode", exact=True).click()
    page.wait_for_function("!there.grid()")
    page.wait_for_timeout(1_500)
    seen["back from another page, grid"] = 1_000 * start + page.evaluate(BACK, "Attention")
    page.close()
    return {name: moment / 1_000 - start for name, moment in sorted(seen.items(), key=itemgetter(1))}, received


def sizes(messages: Sequence[bytes]) -> Seconds:
    """Kilobytes of all messages, of the scripts in them, and of those scripts that came before."""
    scripts: list[str] = []
    for message in messages:
        element = ForwardMsg.FromString(message).delta.new_element
        if element.WhichOneof("type") == "bidi_component":
            scripts.append(element.bidi_component.js_content)
    again = sum(map(len, scripts)) - sum(map(len, set(scripts)))
    return {
        "all messages": sum(map(len, messages)) / 1e3,
        "scripts in them": sum(map(len, scripts)) / 1e3,
        "scripts sent before": again / 1e3,
    }


def measure(browser: Browser, checkout: Path, folder: Path) -> tuple[Seconds, Seconds]:
    """One round of a checkout: seconds as a person sees them, and kilobytes."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    with started(checkout, folder) as (url, began, answered):
        first, received = visit(context, url, began)
        again, received_again = visit(context, url)
        context.close()
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        elsewhere, _ = visit(context, url)
        context.close()
    seconds = {"server answers": answered - began}
    seconds |= {f"first visit, {name}": value for name, value in first.items()}
    seconds |= {f"second visit, {name}": value for name, value in again.items()}
    seconds |= {f"second visit with an empty cache, {name}": value for name, value in elsewhere.items()}
    kilobytes = {f"first visit, {name}": value for name, value in received.items()}
    kilobytes |= {f"second visit, {name}": value for name, value in received_again.items()}
    return seconds, kilobytes


def main() -> None:
    """Measure and print medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=Path, help="another checkout of Headlight")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    checkouts = [ROOT] if arguments.beside is None else [arguments.beside.resolve(), ROOT]
    found: dict[Path, list[tuple[Seconds, Seconds]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        for number in range(arguments.rounds):
            for checkout in checkouts if number % 2 == 0 else checkouts[::-1]:
                found[checkout].append(measure(browser, checkout, Path(folder)))
                print(f"  … {number + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
        browser.close()
    for part, unit in enumerate(("s", "kB")):
        print_table([[result[part] for result in found[checkout]] for checkout in checkouts], unit)


def print_table(columns: Sequence[Sequence[Seconds]], unit: str) -> None:
    """A line for each name: the median of each checkout, and their ratio."""
    for name in dict.fromkeys(name for rows in columns for row in rows for name in row):
        medians = [
            statistics.median(values) if (values := [r[name] for r in rows if name in r]) else None for rows in columns
        ]
        cells = "".join(f"{'–' if value is None else f'{value:.2f} {unit}':>12}" for value in medians)
        ratio = f"{medians[1] / medians[0]:10.2f}" if len(medians) == 2 and medians[0] and medians[1] else ""
        print(f"{name:62}{cells}{ratio}")
    print()


if __name__ == "__main__":
    stopping.leave(main)
