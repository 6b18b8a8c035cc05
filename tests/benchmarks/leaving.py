"""How soon long work ends when its viewers leave: python -m tests.benchmarks.leaving [--people 3] [--rounds 3].

Each viewer, in a browser tab of their own, has all heads measured over a file of 19,118 sentences of their own (Compare
→ Measured), and leaves after a few seconds. Printed are the seconds from then until the server does nothing any more,
seen from outside, by the processor time that it takes. With --rate, how much longer the measurement takes with a look
between any two passes through the model whether to stop than without: both in turns, as a ratio.
"""

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from threading import Event
from typing import Final

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from model import interruption
from model.analysis.coreference.case_files import parse_pronoun_cases
from model.analysis.coreference.measure import measure_coreference
from model.translator import Translator
from tests.benchmarks.crowd import youngest_child
from tests.browser.conftest import FLAGS, find_executable, streamlit_server
from tests.paths import ROOT

ROWS: Final = 19_118
SHIPPED: Final = ROOT / "checkpoints" / "en-de"
#: A server that takes less of a core than this does nothing; looked at so often, for so many seconds in a row.
IDLE, INTERVAL, CALM = 0.15, 0.1, 1.0
PATIENCE_MS: Final = 60_000
NOUNS: Final = """
    animal street box table dog house horse barn cat tree book shelf key lock car bridge ball window lamp wall cup plate
    chair door bird nest ship harbour train station suitcase trophy engine wheel stone river coat drawer
"""
ADJECTIVES: Final = "tired wide small heavy old dark dirty warm loud strange broken narrow full slow bright"


def sentences(start: int) -> Iterator[dict[str, str]]:
    """Sentences with a pronoun and two candidates, in an order that `start` shifts."""
    adjectives, every = ADJECTIVES.split(), list(itertools.permutations(NOUNS.split(), 2))
    for number in itertools.count(start):
        first, second = every[number % len(every)]
        adjective = adjectives[number // len(every) % len(adjectives)]
        sentence = f"The {first} could not get past the {second} because it was too {adjective}."
        yield {"sentence": sentence, "pronoun": "it", "antecedent": f"The {first}", "distractor": f"the {second}"}


def write_cases(path: Path, start: int, rows: int = ROWS) -> Path:
    """A file of so many sentences."""
    lines = map(json.dumps, itertools.islice(sentences(start), rows))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def processor_seconds(process: int) -> float:
    """What a process has taken of all processors."""
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def until_idle(process: int) -> float:
    """Seconds until a process does nothing any more."""
    began = time.monotonic()
    last_busy, at, taken = began, began, processor_seconds(process)
    while time.monotonic() - last_busy < CALM:
        time.sleep(INTERVAL)
        now, took = time.monotonic(), processor_seconds(process)
        if (took - taken) / (now - at) > IDLE:
            last_busy = now
        at, taken = now, took
    return last_busy - began


def begin(page: Page, url: str, cases: Path) -> None:
    """Have the sentences of a file measured; back when that is under way."""
    page.goto(f"{url}/compare?lab=Measured&given=file")
    page.locator("input[type=file]").set_input_files(cases, timeout=PATIENCE_MS)
    page.get_by_role("button", name="Measure", exact=True).click(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Stop", exact=True).wait_for(timeout=PATIENCE_MS)


def visit(browser: Browser, url: str, files: list[Path], stay: float, server: int) -> float:
    """All come, stay so many seconds and leave at once; seconds until the server does nothing any more."""
    with ExitStack() as here:
        for cases in files:
            context = here.enter_context(browser.new_context())
            begin(context.new_page(), url, cases)
        time.sleep(stay)
    return until_idle(server)


def measure_leaving(people: int, rounds: int, stay: float) -> None:
    """Print the seconds of each round."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder)
        os.environ["HEADLIGHT_CHECKPOINTS"] = str(SHIPPED.parent)
        with streamlit_server(ROOT / "app.py", (), root / "server.log") as url:
            server = youngest_child()
            browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
            for number in range(rounds):
                offset = number * people
                files = [write_cases(root / f"{i}.jsonl", (offset + i) * 100) for i in range(people)]
                # Each round at another stage of the work.
                stayed = stay * (number + 1)
                seconds = visit(browser, url, files, stayed, server)
                print(f"{people} viewers leave after {stayed:.0f} s: idle {seconds:.1f} s later", flush=True)
            browser.close()


def measure_rate(rounds: int, rows: int = 200) -> None:
    """Print the ratio of each round, and the median."""
    translator, stopping = Translator.load(SHIPPED), Event()
    ratios = []
    for number in range(rounds + 1):
        content = "\n".join(map(json.dumps, itertools.islice(sentences(number * rows), rows))).encode()
        cases = parse_pronoun_cases(content, "cases.jsonl")
        seconds = []
        # Whoever goes first changes from round to round, and the first round warms up.
        for looks in (True, False) if number % 2 else (False, True):
            began = time.process_time()
            with interruption.interruptible(stopping.is_set) if looks else nullcontext():
                measure_coreference(translator, cases)
            seconds.append((looks, time.process_time() - began))
        if number:
            ratios.append(dict(seconds)[True] / dict(seconds)[False])
            print(f"with looks ÷ without: {ratios[-1]:.3f}", flush=True)
    print(f"median {statistics.median(ratios):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stay", type=float, default=5)
    parser.add_argument("--rate", action="store_true", help="what looking whether to stop costs, instead")
    arguments = parser.parse_args()
    if arguments.rate:
        measure_rate(arguments.rounds)
    else:
        measure_leaving(arguments.people, arguments.rounds, arguments.stay)


if __name__ == "__main__":
    main()
