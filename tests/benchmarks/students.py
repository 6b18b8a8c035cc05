"""A class of students with a film each: python -m tests.benchmarks.crowd --students 40 [--greedy | --exam].

All come to Decode at the same moment. Each types a sentence of its own, has its film drawn, steps through it and forces
another token. Printed are seconds until the title, until the film, until the server has taken a step that the browser
already shows, and until the film with the forced token; the errors; and the server's peak memory. With --greedy the
same beside one viewer whose tabs begin the longest computations, and how many times as long everything took beside that
viewer as without. Compare within one run. With --exam all answer the final test instead, one question after another,
by the link of a class: seconds until the title, until the verdict of an answer, and until the next question; who began
the class sees then whether every answer and every result was counted.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.crowd import header_of, resident, sentence, youngest_child
from tests.benchmarks.wire_viewer import Run, WireViewer, browser_cookie
from tests.browser.conftest import streamlit_server
from tests.paths import ROOT
from viz.pages.learn.lessons.final_test import QUESTIONS
from viz.selection.catalogue import ROOT_VARIABLE
from viz.server.limits import SHARED_VARIABLE

PLAYER: Final = "player"
#: Steps of each film that are looked at one after another.
STEPS: Final = 3
PATIENCE: Final = 1_200.0
#: Seconds after which a class comes to a greedy viewer.
HEAD_START: Final = 15.0
WHAT: Final = {
    "title": "title", "picture": "film", "step": "a step", "forced": "forced token", "answer": "verdict",
    "next": "next question",
}  # fmt: skip
#: The final test that a class answers.
EXAM: Final = {"lesson": "final-test-59"}
#: What the link of the class names, whatever else a server has.
MODEL: Final = {"checkpoint": "en-de"}
#: A text as long as the model that ships reads, about: what is computed of it takes long.
LONG: Final = " ".join(map(sentence, range(34)))
#: What a greedy viewer opens, each in a tab: the page and its parameters. Every button that begins work is pressed.
GREEDY: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("compare", {"lab": "Measured", "text": sentence(1)}),
    ("compare", {"lab": "Measured", "measure": "norms", "text": sentence(2)}),
    ("compare", {"lab": "Two models", "text": sentence(3)}),
    ("compare", {"lab": "Cause", "text": sentence(4)}),
    ("experiments", {"switches": "1", "text": LONG}),
    ("paper", {"claim": "Scores", "text": sentence(5)}),
    ("paper", {"claim": "Table 1", "text": sentence(6)}),
    ("experiments", {"claim": "Ablations", "text": LONG}),
    ("decode", {"studio": "Attribution", "text": LONG}),
    ("compare", {"lab": "Cause", "text": LONG}),
    ("decode", {"studio": "Beam search", "text": LONG}),
    ("model", {"about": "Scores", "text": LONG}),
)


@dataclass
class Class:
    """What a class saw: seconds by what was waited for, what went wrong, the server's most bytes, and all seconds."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in WHAT})
    problems: list[str] = field(default_factory=list)
    most_bytes: int = 0
    took: float = 0.0


def _film(run: Run) -> tuple[float, dict[str, Any]]:
    """When the last film of a run had come, and what it says; nothing if there was none."""
    films = [(at, header_of(payload)) for at, key, payload in run.components if key == PLAYER]
    return films[-1] if films else (0.0, {})


async def student(tab: WireViewer, number: int, seen: Class) -> None:
    """One student, from the link to the forced token."""
    text = sentence(number)
    async with tab:
        came = await tab.open("decode", MODEL)
        typed = await tab.type("text", text)
        at, header = _film(typed)
        seen.seconds["title"] += [came.title, typed.title]
        seen.seconds["picture"].append(at)
        runs = [came, typed]
        if not header:
            raise RuntimeError(f"no film: {[problem for run in runs for problem in run.problems]}")
        command = header["command"]
        state = {name: value for name, value in command.items() if name != "number"}
        state |= {"digest": header["digest"], "command": command["number"]}
        steps = header["steps"]
        for step in range(1, min(STEPS, len(steps) - 1) + 1):
            state["step"] = step
            runs.append(await tab.report(PLAYER, {"view": state}))
            seen.seconds["step"].append(runs[-1].done)
        chosen, offered = steps[state["step"]]["chosen"], steps[state["step"]]["candidates"]
        token = next(candidate[0] for rank, candidate in enumerate(offered) if rank != chosen)
        wish = {"kind": "force", "tokenId": token, "step": state["step"], "digest": header["digest"]}
        runs.append(await tab.trigger(PLAYER, "wish", wish, {"view": state}))
        if _film(runs[-1])[1].get("digest") in (None, header["digest"]):
            raise RuntimeError("the forced token changed nothing")
        seen.seconds["forced"].append(_film(runs[-1])[0])
        seen.problems += [f"{text}: {problem}" for run in runs for problem in run.problems]


async def examinee(url: str, number: int, link: dict[str, str], seen: Class) -> None:
    """One student who answers all questions of the final test, whichever they are."""
    async with WireViewer(url, await asyncio.to_thread(browser_cookie, url)) as tab:
        runs = [await tab.open("learn", link)]
        seen.seconds["title"].append(runs[0].title)
        for question in range(1, QUESTIONS + 1):
            runs.append(await tab.choose("answer", (number + question) % len(tab.options["answer"])))
            seen.seconds["answer"].append(runs[-1].done)
            if question < QUESTIONS:
                runs.append(await tab.press("lesson-next"))
                seen.seconds["next"].append(runs[-1].done)
        if not any(f" of {QUESTIONS} right on the first try" in text for text in runs[-1].markdown):
            raise RuntimeError(f"no result: {runs[-1].markdown}")
        seen.problems += [f"{number}: {problem}" for run in runs for problem in run.problems]


async def exam(url: str, count: int, server: int) -> Class:
    """A class that answers the final test at the same moment, and whether all of it was counted."""
    seen = Class()
    async with WireViewer(url, await asyncio.to_thread(browser_cookie, url)) as teacher:
        await teacher.open("learn", EXAM)
        await teacher.press("class-begin")
        link = teacher.params
        watching, began = asyncio.create_task(_watch(seen, server)), time.perf_counter()
        work = (asyncio.wait_for(examinee(url, number, link, seen), PATIENCE) for number in range(count))
        for number, result in enumerate(await asyncio.gather(*work, return_exceptions=True)):
            if isinstance(result, BaseException):
                seen.problems.append(f"student {number}: {type(result).__name__} {result}")
        seen.took = time.perf_counter() - began
        watching.cancel()
        for step in (1, QUESTIONS):
            bars = await teacher.open("learn", link | {"step_of_lesson": str(step)})
            if f"{count} answers of the class" not in bars.markdown:
                seen.problems.append(f"question {step}: the teacher sees {bars.markdown}")
    return seen


async def greedy(url: str, ready: asyncio.Event, over: asyncio.Event) -> None:
    """One viewer with a tab for everything that takes long, until the class has finished."""
    cookie = await asyncio.to_thread(browser_cookie, url)

    async def work(page: str, params: dict[str, str]) -> None:
        async with WireViewer(url, cookie) as tab:
            await tab.open(page, MODEL | params)
            while True:
                for key in [key for key in tab.places if key.endswith("-start")]:
                    await tab.press(key)
                # Looked at again, so that what ends is begun anew.
                await asyncio.sleep(5.0)

    tabs = [asyncio.create_task(work(*opened)) for opened in GREEDY]
    await asyncio.sleep(HEAD_START)
    ready.set()
    await over.wait()
    for tab in tabs:
        tab.cancel()
    await asyncio.gather(*tabs, return_exceptions=True)


async def visit(url: str, count: int, first: int, server: int, *, is_greedy: bool) -> Class:
    """A class of so many at the same moment, with the sentences from `first` on, beside a greedy viewer or not."""
    seen, ready, over = Class(), asyncio.Event(), asyncio.Event()
    # Libraries and the model are loaded before anybody is counted.
    async with WireViewer(url) as tab:
        await tab.open("decode", MODEL | {"text": "Good morning."})
    other = asyncio.create_task(greedy(url, ready, over)) if is_greedy else None
    if other is not None:
        await asyncio.wait({other, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
    watching = asyncio.create_task(_watch(seen, server))
    began = time.perf_counter()
    tabs = [WireViewer(url, await asyncio.to_thread(browser_cookie, url)) for _number in range(count)]
    work = (asyncio.wait_for(student(tab, first + number, seen), PATIENCE) for number, tab in enumerate(tabs))
    for number, result in enumerate(await asyncio.gather(*work, return_exceptions=True)):
        if isinstance(result, BaseException):
            seen.problems.append(f"{sentence(first + number)}: {type(result).__name__} {result}")
    seen.took = time.perf_counter() - began
    over.set()
    watching.cancel()
    if other is not None:
        await other
    return seen


async def _watch(seen: Class, server: int) -> None:
    while True:
        seen.most_bytes = max(seen.most_bytes, resident(server))
        await asyncio.sleep(0.25)


def at_share(seconds: Sequence[float], share: float) -> float:
    """The value below which this share of them lies; NaN of none."""
    ranked = sorted(seconds)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else float("nan")


def report(name: str, seen: Class) -> str:
    """Median and 95th percentile of everything, as text."""
    shown = (
        f"  {label}: median {at_share(seen.seconds[what], 0.5):.2f} s, 95 % {at_share(seen.seconds[what], 0.95):.2f} s"
        f" ({len(seen.seconds[what])})"
        for what, label in WHAT.items()
        if seen.seconds[what]
    )
    memory = f"  all in {seen.took:.0f} s, {len(seen.problems)} errors, server at most {seen.most_bytes / 1e6:,.0f} MB"
    return "\n".join([name, *shown, memory, *(f"  WRONG: {problem}" for problem in seen.problems[:10])])


def ratios(beside: Class, alone: Class) -> str:
    """How many times as long everything took one class as the other, by the median and the 95th percentile."""

    def ratio(what: str, share: float) -> float:
        return at_share(beside.seconds[what], share) / at_share(alone.seconds[what], share)

    return ", ".join(
        f"{label} × {ratio(what, 0.5):.2f} (95 %: × {ratio(what, 0.95):.2f})" for what, label in WHAT.items()
    )


def _served(visited: Callable[[str, int], Coroutine[Any, Any, Class]]) -> Class:
    """A class on a fresh shared server: what comes of its address and its process."""
    os.environ.update({ROOT_VARIABLE: str(ROOT / "checkpoints"), SHARED_VARIABLE: "1"})
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        with streamlit_server(ROOT / "app.py", (), log) as url:
            seen = asyncio.run(visited(url, youngest_child()))
        if "Traceback" in (said := log.read_text(errors="replace", encoding="utf-8")):
            seen.problems.append(f"the server's log: {said[said.index('Traceback') :][:2_000]}")
    return seen


def run(count: int, *, beside_greedy: bool, has_exam: bool) -> bool:
    """Print everything; whether something went wrong."""
    if has_exam:
        examined = _served(lambda url, server: exam(url, count, server))
        print(report(f"{count} students, {QUESTIONS} questions each", examined), flush=True)
        return bool(examined.problems)
    alone = _served(lambda url, server: visit(url, count, 0, server, is_greedy=False))
    print(report(f"{count} students", alone), flush=True)
    if not beside_greedy:
        return bool(alone.problems)
    beside = _served(lambda url, server: visit(url, count, 0, server, is_greedy=True))
    print(report(f"{count} students beside a greedy viewer", beside), flush=True)
    print(f"beside a greedy viewer: {ratios(beside, alone)}")
    return bool(alone.problems or beside.problems)
