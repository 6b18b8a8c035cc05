"""Presses while the server is busy: python -m tests.benchmarks.presses [--presses 300] [--busy 8] [--seconds 480].

A person presses tabs, tiles, Undo, the buttons of a lesson and links in Chromium, each while a run of the page is under
way and processes that compute without a pause share the cores. A press is lost where the browser does not show what it
chose, or the address, which Python writes, does not say it. Prints how many of each kind were lost, and how long both
took to answer. Ends with an error if any was. The busy processes end by themselves when the time is over.

First, without a browser (--pairs 60): a tile is pressed and another message follows within 20 ms, which begins a run
of the page; how many of these presses the address does not say.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as NotInTime

from tests.benchmarks.browser import progress
from tests.benchmarks.wire_viewer import WireViewer
from tests.browser.conftest import FLAGS, find_executable, streamlit_server
from tests.paths import ROOT
from viz.selection.selection import FIELDS

#: A press that is not answered by then is lost.
PATIENCE_MS: Final = 30_000
#: Milliseconds between a press that begins a run and the one that is counted, and for which a button is held down.
MOST_BETWEEN: Final = 400
HELD: Final = 50
#: How often each kind comes, and how many kinds there are.
ROUNDS: Final = 3
NUM_KINDS: Final = 5
#: Links by name, and the path of each in addresses: pages that need no long computation.
LINKS: Final = {"Learn": "/learn", "Attention": "/", "Model": "/model", "Experiments": "/experiments"}
#: Tabs of one page, by what addresses call them; the first is the default, of which addresses are silent.
TABS: Final = FIELDS["attention_tab"].options
#: The tiles that are pressed: of two layers.
HEADS: Final = 8
NUM_TILES: Final = 2 * HEADS


@dataclass
class Presses:
    """Those of one kind: seconds until the browser showed each, until the address said it, and what was lost.

    `in_runs` of all were made while the browser knew of a run.
    """

    shown: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    in_runs: int = 0

    def line(self) -> str:
        """The kind's line in the table."""
        times = [f"{statistics.median(each):8.2f} {max(each):8.2f}" for each in (self.shown, self.said) if each]
        return f"{len(self.shown) + len(self.lost):7} {self.in_runs:8} {len(self.lost):5} " + "  ".join(times)


def waited(target: Locator, most: float) -> None:
    """Wait until it is seen, milliseconds at most."""
    target.wait_for(timeout=most)


def press(page: Page, target: Locator) -> None:
    """As a person presses: at the place where it is seen, without asking whether the page is ready for it."""
    box = target.bounding_box()
    assert box is not None, "what is pressed must be seen"
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, delay=HELD)


def param(name: str, value: str | None) -> str:
    """The condition that the address says so; None where it must be silent."""
    return f"new URLSearchParams(location.search).get('{name}') === {'null' if value is None else repr(value)}"


@dataclass
class Person:
    """One who presses; `chance` is seeded, so that two runs press the same."""

    page: Page
    url: str
    chance: random.Random
    kinds: dict[str, Presses] = field(default_factory=dict)

    def begin_run(self) -> None:
        """Streamlit's own key for another run of the page, and a moment that may fall anywhere into that run."""
        self.page.evaluate("document.activeElement?.blur()")
        self.page.keyboard.press("r")
        self.page.wait_for_timeout(self.chance.uniform(0, MOST_BETWEEN))

    def pressed(self, kind: str, target: Locator, shown: Callable[[int], object], said: str) -> bool:
        """Press, and note when the browser shows it and when the address says it; whether both came."""
        presses = self.kinds.setdefault(kind, Presses())
        presses.in_runs += self.page.get_by_test_id("stApp").get_attribute("data-test-script-state") == "running"
        before = time.monotonic()
        press(self.page, target)
        stage = "shown"
        try:
            shown(PATIENCE_MS)
            seen = time.monotonic() - before
            stage = "said"
            self.page.wait_for_function(said, timeout=PATIENCE_MS)
            heard = time.monotonic() - before
            stage = "kept"
            shown(PATIENCE_MS)
        except NotInTime:
            presses.lost.append(f"{kind}: not {stage}: {target}, {self.page.url}")
            progress(presses.lost[-1])
            return False
        presses.shown.append(seen)
        presses.said.append(heard)
        return True

    def opened(self, query: str = "") -> None:
        self.page.goto(f"{self.url}/{query}")
        self.page.locator(".head-grid[data-ready='1']").wait_for(timeout=4 * PATIENCE_MS)

    def tabs(self, count: int) -> None:
        self.opened()
        open_tab = TABS[0]
        for _ in range(count):
            name = self.chance.choice([each for each in TABS if each != open_tab])
            tab = self.page.get_by_role("tab", name=name)
            selected = self.page.get_by_role("tab", name=name, selected=True)
            self.begin_run()
            said = param("view", None if name == TABS[0] else name)
            if self.pressed("tabs", tab, partial(waited, selected), said):
                open_tab = name
            else:
                self.opened()
                open_tab = TABS[0]

    def tiles(self, count: int) -> None:
        """As many are pressed, and then as many undone, one by one."""
        path = [0]
        self.opened("?layer=0&head=0")
        for _ in range(count):
            path.append((path[-1] + self.chance.randrange(1, NUM_TILES)) % NUM_TILES)
            if not self.head("tiles", path[-1], self.tile(path[-1])):
                self.opened("?layer=0&head=0")
                path = [0]
        undo = self.page.get_by_role("button", name="Undo the last choice")
        while len(path) > 1:
            path.pop()
            if not self.head("Undo", path[-1], undo):
                return

    def tile(self, number: int) -> Locator:
        layer, head = divmod(number, HEADS)
        return self.page.locator(f".head-grid .cell[data-layer='{layer}'][data-head='{head}']")

    def head(self, kind: str, number: int, target: Locator) -> bool:
        """Press what opens the head of a tile."""
        layer, head = divmod(number, HEADS)
        opened = self.tile(number).and_(self.page.locator("[aria-selected='true']"))
        self.begin_run()
        said = param("head", f"L{layer + 1}H{head + 1}")
        return self.pressed(kind, target, lambda most: opened.wait_for(timeout=most), said)

    def buttons(self, count: int) -> None:
        """The steps of a lesson that begins without questions, to and fro: each is drawn with its picture."""
        step = 0
        for _ in range(count):
            if not step:
                self.page.goto(f"{self.url}/learn?lesson=look-up")
                self.page.locator(".st-key-lesson-next button").wait_for(timeout=4 * PATIENCE_MS)
                step = 1
            forward = step < 3 and (step == 1 or self.chance.random() < 0.5)
            wanted = step + (1 if forward else -1)
            self.begin_run()
            said = param("step_of_lesson", None if wanted == 1 else str(wanted))
            # A button with a tip stands there twice, once for touch.
            button = self.page.locator(f".st-key-lesson-{'next' if forward else 'back'} button:visible")

            def shown(most: int, said: str = said) -> None:
                self.page.wait_for_function(said, timeout=most)

            step = wanted if self.pressed("buttons", button, shown, said) else 0

    def links(self, count: int) -> None:
        self.opened()
        at = "Attention"
        for _ in range(count):
            at = self.chance.choice([name for name in LINKS if name != at])
            heading = self.page.get_by_role("heading", name=at, level=1, exact=True)
            self.begin_run()
            link = self.page.get_by_role("link", name=at, exact=True)
            said = f"location.pathname === '{LINKS[at]}'"
            if not self.pressed("links", link, partial(waited, heading), said):
                self.opened()
                at = "Attention"


async def lost_pairs(url: str, count: int, chance: random.Random, heads: int = HEADS) -> int:
    """How many of so many presses on tiles are lost that a message which begins a run of the page follows at once."""
    lost, number = 0, 0
    async with WireViewer(url) as viewer:
        await viewer.open("", {"layer": "0", "head": "0"})
        for _ in range(count):
            number = (number + chance.randrange(1, 2 * heads)) % (2 * heads)
            layer, head = divmod(number, heads)
            said = {"head": f"L{layer + 1}H{head + 1}"}
            pause, value = chance.uniform(0, 0.02), {"layer": layer, "head": head}
            lost += not await viewer.is_heard("heads", "head", value, pause, said)
    return lost


@contextmanager
def busy_processes(count: int, seconds: float) -> Iterator[None]:
    """So many processes that compute without a pause; they end by themselves, and sooner where the benchmark does."""
    spin = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    processes = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(person: Person, presses: int, seconds: float) -> None:
    """Kind after kind, a few at a time, until all are done or the time is over."""
    walks = (person.tabs, person.tiles, person.buttons, person.links)
    end = time.monotonic() + seconds
    for number in range(ROUNDS):
        for walk in walks:
            walk(presses // NUM_KINDS // ROUNDS)
            done = sum(len(each.shown) + len(each.lost) for each in person.kinds.values())
            lost = sum(len(each.lost) for each in person.kinds.values())
            progress(f"round {number + 1}: {done} presses, {lost} lost")
            if time.monotonic() > end:
                return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--presses", type=int, default=300)
    parser.add_argument("--busy", type=int, default=8, help="processes that share the cores")
    parser.add_argument("--seconds", type=float, default=480, help="after which it ends, and the busy processes")
    parser.add_argument("--pairs", type=int, default=60, help="presses without a browser")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lost, chance = 0, random.Random(arguments.seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        streamlit_server(ROOT / "app.py", (), Path(folder) / "server.log") as url,
        busy_processes(arguments.busy, arguments.seconds),
    ):
        begun = time.monotonic()
        if arguments.pairs:
            lost = asyncio.run(lost_pairs(url, arguments.pairs, chance))
            print(f"{lost} of {arguments.pairs} presses lost that another message followed within 20 ms", flush=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
            person = Person(page, url, chance)
            measure(person, arguments.presses, arguments.seconds - (time.monotonic() - begun))
            browser.close()
    print(f"{'':10}presses  in runs  lost    shown, s: median, most   said, s: median, most")
    for kind, presses in person.kinds.items():
        print(f"{kind:10}{presses.line()}")
    told = [line for presses in person.kinds.values() for line in presses.lost]
    if lost or told:
        raise SystemExit("\n".join(told) or "A press was lost.")


if __name__ == "__main__":
    stopping.leave(main)
