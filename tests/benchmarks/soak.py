"""Hours of use in minutes: python -m tests.benchmarks.soak [--interactions 2000] [--viewers 12].

Viewers come to one server, one after the other. Each walks through every tab of every page, by links and by typed
sentences that nobody had before (--sentences 12: by so many, again and again, which tells what caches keep from what
is lost), as fast as the server answers. Printed are the server's memory over the interactions, the slope after the
first 300 of what it keeps, its threads, and the bytes it wrote to the disk. Ends with an error if that grows by more
than noise, a thread is left, or a page shows a traceback.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass, field
from itertools import count, cycle, groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import psutil
from scipy.stats import linregress

from tests.benchmarks.crowd import resident, sentence, youngest_child
from tests.benchmarks.forged import TABS, views
from tests.benchmarks.hostile import PAGES
from tests.benchmarks.wire_viewer import WireViewer
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS

#: Interactions after which caches are full, and between two looks at the server.
WARM_UP, EVERY = 300, 10
#: Interactions of one tab of the browser, before another link is followed: Streamlit keeps the 128 sessions that were
#: left last, and these are full within the warm-up.
OF_A_TAB: Final = 2
#: Seconds until what nobody waits for any more has ended.
PAUSE: Final = 20.0
#: Interactions in which freed memory is handed back at least once (`viz.server.caches`: after 10 s, and one
#: takes 0.25): the least of so many is what the server keeps. Between two times it holds up to 300 MB more.
WINDOW: Final = 100
#: A slope of so many standard errors is none of noise.
ERRORS: Final = 3.0


@dataclass
class Soak:
    """What was seen of the server.

    Attributes:
        memory: interactions done, and the server's bytes then.
        threads: at the first look after the caches were full, and when everybody had left.
        problems: errors and tracebacks that a page showed.
        slowest: seconds of the slowest interaction.
    """

    memory: list[tuple[int, int]] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def settled(self) -> list[tuple[int, int]]:
        """The looks once the caches were full."""
        return [(at, held) for at, held in self.memory if at >= WARM_UP]

    def kept(self) -> list[tuple[int, int]]:
        """The look with the least memory of each window."""
        windows = groupby(self.settled(), key=lambda look: (look[0] - WARM_UP) // WINDOW)
        return [min(looks, key=itemgetter(1)) for _, looks in windows]

    def slope(self) -> tuple[float, float]:
        """Bytes an interaction by which grows what is kept, and the standard error of that."""
        fitted = linregress(*zip(*self.kept(), strict=True))
        return float(fitted.slope), float(fitted.stderr)

    def is_grown(self) -> bool:
        """Whether noise alone would not have made such a slope; 5 MB a thousand interactions count as none."""
        slope, error = self.slope()
        return slope > max(ERRORS * error, 5e3)


def threads(process: int) -> int:
    """Threads of a process."""
    return int(psutil.Process(process).num_threads())


def bytes_below(folder: Path) -> int:
    """Bytes of all files of a folder and those within it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def viewer(url: str, number: int, interactions: int, server: int, seen: Soak, sentences: int) -> None:
    """One viewer, who opens tab after tab and types another sentence into each a few times."""
    walk, own = cycle(views()), count(number * interactions)
    done = 0
    while done < interactions:
        view = next(walk)
        async with WireViewer(url) as tab:
            for visit in range(min(OF_A_TAB, interactions - done)):
                text = sentence(next(own) % sentences)
                if visit == 0:
                    params = {FIELDS[TABS[view.page]].param: view.tab, "text": text}
                    run = await tab.open(PAGES[view.page][1], params)
                else:
                    run = await tab.type("text", text)
                done += 1
                seen.slowest = max(seen.slowest, run.done)
                seen.problems += [f"{view.page} {view.tab!r}, {text}: {problem}" for problem in run.problems]
                total = number * interactions + done
                if total % EVERY == 0:
                    seen.memory.append((total, resident(server)))
                if total == WARM_UP:
                    seen.threads.append(threads(server))


def soak(interactions: int, viewers: int, sentences: int = 1_000_000) -> tuple[Soak, int]:
    """Let viewers come one after the other, who type so many sentences; what was seen, and the bytes written."""
    seen = Soak()
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder)
        os.environ |= {ROOT_VARIABLE: str(ROOT / "checkpoints"), "TMPDIR": folder, "XDG_CACHE_HOME": folder}
        log = written / "server.log"
        with streamlit_server(ROOT / "app.py", (), log) as url:
            server = youngest_child()
            for number in range(viewers):
                asyncio.run(viewer(url, number, interactions // viewers, server, seen, sentences))
                at, held = seen.memory[-1]
                print(f"  viewer {number + 1}: {at:,} interactions, {held / 1e6:,.0f} MB", flush=True)
            time.sleep(PAUSE)
            seen.threads.append(threads(server))
            if "Traceback" in log.read_text(errors="replace", encoding="utf-8"):
                seen.problems.append("the server's log has a traceback")
        return seen, bytes_below(written) - log.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=2_000)
    parser.add_argument("--viewers", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=1_000_000, help="that are typed, again and again")
    arguments = parser.parse_args()
    if arguments.interactions < (fewest := WARM_UP + 3 * WINDOW):
        parser.error(
            f"--interactions must be at least {fewest}: a slope needs three windows after the caches are full."
        )
    began = time.perf_counter()
    seen, written = soak(arguments.interactions, arguments.viewers, arguments.sentences)
    slope, error = seen.slope()
    settled, kept = [held / 1e6 for _, held in seen.settled()], [held / 1e6 for _, held in seen.kept()]
    print(
        f"{seen.memory[-1][0]:,} interactions of {arguments.viewers} viewers in {time.perf_counter() - began:,.0f} s, "
        f"the slowest {seen.slowest:.1f} s\n"
        f"memory after {WARM_UP}: {min(settled):,.0f} to {max(settled):,.0f} MB; kept, by the least of each {WINDOW}: "
        f"{' '.join(f'{held:,.0f}' for held in kept)} MB, {slope * 1e3 / 1e6:+.1f} ± {error * 1e3 / 1e6:.1f} MB a "
        f"thousand interactions\n"
        f"threads: {' → '.join(map(str, seen.threads))}\n"
        f"written to the disk: {written / 1e6:,.1f} MB\n"
        f"problems: {len(seen.problems)}"
    )
    for problem in seen.problems[:10]:
        print(f"  {problem[:200]}")
    if seen.problems or seen.is_grown() or seen.threads[-1] > seen.threads[0]:
        raise SystemExit(1)


if __name__ == "__main__":
    stopping.leave(main)
