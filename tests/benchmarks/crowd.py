"""Many people at once: python -m tests.benchmarks.crowd [--people 20] [--rounds 3], or with --hostile, bad input.

With --students 40, a class with a film each: see `tests.benchmarks.students`; with --students 40 --two-servers, behind
nginx, one of them stopped meanwhile: see `tests.benchmarks.two_servers`.

Real sessions on one real server, each with a sentence and a model of its own: the shipped checkpoint, and small random
models in folders of `transformers`. Every answer is compared with what the same model says of that sentence in this
process; printed are seconds until a session's page has its title while others compute, seconds until its answer is
there, and the server's memory over time. Ends with an error if an answer is wrong, a page shows a traceback, the
server's log holds one, or a title takes longer than it may.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import asyncio
import json
import os
import re
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final

import psutil

from model.opening import open_reader
from model.reader import Reader
from tests.benchmarks.wire_viewer import Run, WireViewer
from tests.browser.conftest import streamlit_server
from tests.model.adapters.zoo import save_model
from tests.paths import ROOT
from viz.selection.catalogue import ROOT_VARIABLE
from viz.text.written import display_tokens

#: Kind of model → its tokenizer's.
FOLDERS: Final = {"bert": "wordpiece", "gpt2": "bytes", "marian": "metaspace"}
SUBJECTS: Final = ("The man", "A woman", "The dog", "My sister", "Tom")
VERBS: Final = ("sees", "likes", "forgets", "follows")
OBJECTS: Final = ("the house", "an old car", "the river", "two horses", "a red book", "the children", "her brother")
#: Seconds that a title may take while others compute, and that one answer may take.
FRAME_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 180.0
INTERVAL: Final = 0.25


@dataclass(frozen=True)
class Person:
    """One session to come: which model, and a sentence that nobody else has."""

    model: str
    text: str

    @property
    def params(self) -> dict[str, str]:
        """What the link says."""
        return {"checkpoint": self.model, "text": self.text}


@dataclass
class Crowd:
    """What was seen of one crowd.

    Attributes:
        people, seen: one entry a session; `rounds` has the latter round by round.
        first: the very first session, for which the server loads its libraries.
        alone: seconds until the title of a session that has the server for itself.
        passers: the same, of further sessions, one after another, while the crowd's are computed.
        memory: seconds, and the server's bytes then.
        problems: what went wrong.
    """

    first: Run = field(default_factory=Run)
    rounds: list[list[Run]] = field(default_factory=list)
    alone: float = 0.0
    passers: list[float] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    seen: list[Run] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def sentence(number: int) -> str:
    """A sentence for each number; 140 are different, and then they say how often, and get no longer."""
    again, index = divmod(number, len(SUBJECTS) * len(VERBS) * len(OBJECTS))
    subject, verb = SUBJECTS[index % len(SUBJECTS)], VERBS[index % len(VERBS)]
    what = OBJECTS[index % len(OBJECTS)]
    return f"{subject} {verb} {what}{f' {100 + again} times' if again else ''}."


def people_of(models: Sequence[str], count: int, start: int) -> list[Person]:
    """So many people, who share the models among them."""
    return [Person(models[(start + index) % len(models)], sentence(start + index)) for index in range(count)]


async def open_page(url: str, params: dict[str, str], *, leave_at_title: bool = False) -> Run:
    """Begin a session at the first page, as a link does, and stay until its run is over, or its title is there."""
    async with WireViewer(url) as tab:
        return await tab.open("", params, leave_at_title=leave_at_title)


async def visit(url: str, people: Sequence[Person], rounds: int, server: int) -> Crowd:
    """`rounds` times, all people but the first round's come with a new sentence; all of a round at the same time."""
    crowd, began, over = Crowd(), time.perf_counter(), asyncio.Event()
    watching = asyncio.create_task(_watch(crowd, began, server))
    models = list(dict.fromkeys(person.model for person in people))
    crowd.first = await open_page(url, {"checkpoint": people[0].model})
    crowd.alone = (await open_page(url, {"checkpoint": people[0].model}, leave_at_title=True)).title
    passing = asyncio.create_task(_pass_by(crowd, url, people[0].model, over))
    for number in range(rounds):
        now = people if number == 0 else people_of(models, len(people), number * len(people))
        pages = (asyncio.wait_for(open_page(url, person.params), ANSWER_SECONDS) for person in now)
        for person, seen in zip(now, await asyncio.gather(*pages, return_exceptions=True), strict=True):
            if isinstance(seen, BaseException):
                crowd.problems.append(f"{person.text} ({person.model}): {type(seen).__name__} {seen}")
            else:
                crowd.people.append(person)
                crowd.seen.append(seen)
        crowd.rounds.append(crowd.seen[sum(map(len, crowd.rounds)) :])
    # Whoever passes by goes by themselves: a session cut off would leave its connection open.
    over.set()
    await passing
    watching.cancel()
    return crowd


async def _pass_by(crowd: Crowd, url: str, model: str, over: asyncio.Event) -> None:
    """One after another, people who only look whether there is a page, while the others compute."""
    while not over.is_set():
        crowd.passers.append((await open_page(url, {"checkpoint": model}, leave_at_title=True)).title)
        await asyncio.sleep(INTERVAL)


async def _watch(crowd: Crowd, began: float, server: int) -> None:
    while True:
        crowd.memory.append((time.perf_counter() - began, resident(server)))
        await asyncio.sleep(INTERVAL)


def resident(process: int) -> int:
    """Bytes that a process holds in memory."""
    return int(psutil.Process(process).memory_info().rss)


def youngest_child() -> int:
    """The process that this one started last: the server."""
    return int(max(psutil.Process().children(), key=psutil.Process.create_time).pid)


def header_of(payload: bytes) -> dict[str, Any]:
    """What a component is told, without the arrays behind it."""
    if len(payload) < 4:
        return {}
    (length,) = struct.unpack_from("<I", payload)
    header: dict[str, Any] = json.loads(payload[4 : 4 + length])
    return header


def wrong(person: Person, seen: Run, reader: Reader) -> str:
    """What is wrong with a session's answer; nothing if it is the model's own."""
    if seen.problems:
        return f"it shows {seen.problems[0]!r}"
    trace = reader.trace(person.text)
    headers = [header_of(payload) for _, _, payload in seen.components]
    # The sentence is there as words that can be clicked, or of a model without a translation as text.
    lines = [line for header in headers for line in header.get("lines", []) if "pieces" in line]
    clicked = [" ".join(line["words"]) for line in lines]
    # Rare words are marked within the sentence.
    said = re.sub(r"<[^>]*>", "", " ".join([*seen.html, *map(escape, clicked)]))
    for text in filter(None, (person.text, trace.translation)):
        if escape(text) not in said.replace("&#39;", "&#x27;"):
            return f"it does not say {text!r}"
    grids = [header for header in headers if "queryTokens" in header]
    if not grids:
        return "it has no grid"
    # The page opens on the attention that is most worth seeing.
    axes = [(trace.row_names(site), trace.axis_names(site)[1]) for site in trace.sites]
    expected = [[display_tokens(queries), display_tokens(keys)] for queries, keys in axes]
    if not all([grid["queryTokens"], grid["keyTokens"]] in expected for grid in grids):
        return "its grid has other tokens"
    return ""


def check(crowd: Crowd, root: Path, log: Path) -> None:
    """Add to the problems what is wrong with answers, titles and the server's log."""
    readers = {name: open_reader(root / name) for name in {person.model for person in crowd.people}}
    for person, seen in zip(crowd.people, crowd.seen, strict=True):
        if problem := wrong(person, seen, readers[person.model]):
            crowd.problems.append(f"{person.text} ({person.model}): {problem}")
    if "Traceback" in (said := log.read_text(errors="replace", encoding="utf-8")):
        crowd.problems.append(f"the server's log: {said[said.index('Traceback') :][:2_000]}")


def report(crowd: Crowd) -> str:
    """Times, memory and problems, as text."""
    lines = [f"the very first session: title {crowd.first.title:.2f} s, all {crowd.first.done:.2f} s"]
    lines += [
        f"title of a session that is alone: {crowd.alone:.2f} s",
        f"while others compute: {_spread(crowd.passers)}",
    ]
    for number, seen in enumerate(crowd.rounds):
        lines.append(f"round {number + 1}, {len(seen)} sessions at the same moment")
        lines.append(f"  title: {_spread([one.title for one in seen])}")
        lines.append(f"  answer: {_spread([one.done for one in seen])}")
    step = max(1, len(crowd.memory) // 10)
    samples = ", ".join(f"{at:.0f} s {held / 1e6:,.0f} MB" for at, held in crowd.memory[::step])
    lines.append(f"server's memory: {samples}; most {max((held for _, held in crowd.memory), default=0) / 1e6:,.0f} MB")
    return "\n".join([*lines, *(f"WRONG: {problem}" for problem in crowd.problems)])


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    ranked = sorted(seconds)
    shares = {"median": 0.5, "90 %": 0.9, "most": 1.0}
    at = (f"{name} {ranked[min(len(ranked) - 1, int(share * len(ranked)))]:.2f} s" for name, share in shares.items())
    return f"{', '.join(at)} ({len(ranked)})"


def make_root(root: Path, shipped: Path, folders: Sequence[str]) -> list[str]:
    """A folder with the shipped checkpoint and random models in it; their names."""
    root.mkdir(parents=True)
    (root / shipped.name).symlink_to(shipped.resolve(), target_is_directory=True)
    for name in folders:
        save_model(root / name, name, FOLDERS[name])
    return [shipped.name, *folders]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folders", nargs="*", default=list(FOLDERS), choices=list(FOLDERS))
    parser.add_argument("--hostile", action="store_true", help="bad input instead")
    parser.add_argument("--inputs", type=int, default=500, help="how much bad input")
    parser.add_argument("--students", type=int, help="a class with a film each instead")
    parser.add_argument("--greedy", action="store_true", help="with --students: also beside one who computes all day")
    parser.add_argument("--two-servers", action="store_true", help="with --students: behind nginx, one stopped")
    parser.add_argument("--exam", action="store_true", help="with --students: they answer the final test instead")
    arguments = parser.parse_args()
    if arguments.students and arguments.two_servers:
        from tests.benchmarks.two_servers import run as run_two

        sys.exit(run_two(arguments.students))
    if arguments.students:
        from tests.benchmarks.students import run

        sys.exit(run(arguments.students, beside_greedy=arguments.greedy, has_exam=arguments.exam))
    if arguments.hostile:
        from tests.benchmarks.hostile import main as hostile

        hostile(arguments.inputs)
        return
    with tempfile.TemporaryDirectory() as temporary:
        root, log = Path(temporary) / "checkpoints", Path(temporary) / "server.log"
        names = make_root(root, ROOT / "checkpoints" / "en-de", arguments.folders)
        os.environ[ROOT_VARIABLE] = str(root)
        with streamlit_server(ROOT / "app.py", (), log) as url:
            server = youngest_child()
            crowd = asyncio.run(visit(url, people_of(names, arguments.people, 0), arguments.rounds, server))
        check(crowd, root, log)
    if slow := [seconds for seconds in crowd.passers if seconds > crowd.alone + FRAME_SECONDS]:
        crowd.problems.append(
            f"{len(slow)} of {len(crowd.passers)} titles came more than {FRAME_SECONDS:.0f} s later than alone"
        )
    print(report(crowd))
    sys.exit(bool(crowd.problems))


if __name__ == "__main__":
    stopping.leave(main)
