"""Everything at its limit, beside the peers, as one page: python -m tests.benchmarks.limit [--rounds 3] [--long].

Long texts (`proof`, with eager attention of transformers and TransformerLens as peers, if installed), with --long also
of 16,384 tokens and as a person sees them (`long_page`); the first picture (`first_picture`); and hours of use
(`soak`). Each figure stands beside its goal. Writes `limit.md` and its plot `limit.svg` beside this file, and prints
the page. Takes half an hour, with --long an hour.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

import torch

from tests.benchmarks import long_page
from tests.benchmarks.proof import table
from tests.benchmarks.proof.__main__ import SHARE, measure
from tests.benchmarks.proof.memory import available
from tests.benchmarks.proof.models import LONG_SHAPES, MAX_LONG, MAX_TOKENS, SHAPES, Case, Shape, save_model, text_of
from tests.benchmarks.proof.table import Results
from tests.benchmarks.soak import ERRORS, WARM_UP, soak

HERE: Final = Path(__file__).parent
PEERS: Final = ("eager", "lens")
#: Pixels of a line of the plot, of its names, and of a figure that is just its goal.
LINE, NAMES, GOAL = 26, 430, 240


@dataclass(frozen=True)
class Figure:
    """One figure beside its goal.

    Attributes:
        name: what was measured.
        value: of it.
        unit: as text, " s".
        goal: the most that it may be; None where there is none, of peers.
    """

    name: str
    value: float
    unit: str = ""
    goal: float | None = None

    @property
    def shown(self) -> str:
        """The value as text."""
        return f"{self.value:.3g}{self.unit}"


def figures_of_text(shape: Shape, tokens: int, rounds: int, peers: Sequence[str]) -> Iterator[Figure]:
    """What a long text costs us, and what the peers take for it, each in processes of its own."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text(text_of(shape, tokens), encoding="utf-8")
        case = Case(shape, tokens, save_model(shape, Path(folder)), text)
        arguments = argparse.Namespace(seconds=1_800.0, memory=SHARE * available() / 1e9, attnread=None)
        found = {name: Results() for name in ("ours", *peers)}
        for _ in range(rounds):
            for name, results in found.items():
                if not results.failure:
                    measure(case, name, results, arguments)
    ours, what = found["ours"], f"{shape.name}, {tokens:,} tokens"
    if not ours.rounds:
        raise SystemExit(f"{what}: {ours.failure}")

    def median(values: Iterator[float]) -> float:
        return statistics.median(list(values))

    tiles = median((one["grid"] - one["seconds"]) / one["plain_seconds"] for one in ours.rounds)
    above = median((one["memory"] - one["plain_memory"]) / one["held"] for one in ours.rounds)
    yield Figure(f"{what}: capture ÷ the plain pass", ours.ratio("seconds", "plain_seconds") or 0.0, " ×", 1.1)
    yield Figure(f"{what}: all tiles ÷ the plain pass", tiles, " ×", 1.0)
    yield Figure(f"{what}: memory above the pass ÷ q, k, v", above, " ×", 1.2)
    yield Figure(f"{what}: a head opened", ours.median("head") or 0.0, " s", 3.0)
    yield Figure(f"{what}: its exact numbers", 1e3 * (ours.median("zoom") or 0.0), " ms", 300.0)
    for name in peers:
        theirs, label = found[name], table.LABELS[name].replace("`", "")
        if theirs.rounds:
            for part in ("seconds", "memory"):
                mine = ours.median(part) or 1.0
                yield Figure(f"{what}: {part} of {label} ÷ ours", (theirs.median(part) or 0.0) / mine, " ×")


def figures_of_page(shape: Shape, tokens: int) -> Iterator[Figure]:
    """What a person waits for who reads a long text in the app."""
    seconds, memory = long_page.measure(shape, tokens)
    what, goals = f"{shape.name}, {tokens:,} tokens, in the app", {long_page.HEAD: 3.0, long_page.FOUND: 0.3}
    for name, value in seconds.items():
        yield Figure(f"{what}: {name}", value, " s", goals.get(name))
    yield Figure(f"{what}: memory above that of a short text ÷ q, k, v", memory, " ×")


def figures_of_first_picture(rounds: int) -> Iterator[Figure]:
    """Seconds until the first grid is drawn, and the bytes of the first visit."""
    from playwright.sync_api import sync_playwright

    from tests.benchmarks.first_picture import measure as visit
    from tests.browser.conftest import FLAGS, find_executable
    from tests.paths import ROOT

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_executable(), args=list(FLAGS))
        found = [visit(browser, ROOT, Path(folder)) for _ in range(rounds)]
        browser.close()
    goals = {"second visit, grid": 0.3, "second visit, back from another page, grid": 0.3}
    for part, unit in ((0, " s"), (1, " kB")):
        for name in found[0][part]:
            values = [one[part][name] for one in found if name in one[part]]
            if "back" in name and name not in goals:
                continue
            if name.endswith(", grid") or (unit == " kB" and name.endswith(("messages", "files"))):
                yield Figure(name, statistics.median(values), unit, goals.get(name))


def figures_of_use(interactions: int) -> Iterator[Figure]:
    """Memory, threads and disk over many interactions."""
    seen, written = soak(interactions, 12)
    slope, error = seen.slope()
    # The goal is a slope that noise could have made.
    noise = max(5.0, ERRORS * error * 1e3 / 1e6)
    name = f"{interactions:,} interactions: growth of what is kept, a thousand, after {WARM_UP}"
    yield Figure(name, slope * 1e3 / 1e6, " MB", noise)
    yield Figure(f"{interactions:,} interactions: its standard error", error * 1e3 / 1e6, " MB")
    yield Figure(f"{interactions:,} interactions: threads left", max(0, seen.threads[-1] - seen.threads[0]), "", 0.0)
    yield Figure(f"{interactions:,} interactions: written to the disk", written / 1e6, " MB", 100.0)
    yield Figure(f"{interactions:,} interactions: problems on pages", len(seen.problems), "", 0.0)


def page(figures: Sequence[Figure], about: str) -> str:
    """The figures as Markdown."""
    lines = ["# At the limit", "", "![Each figure as a part of its goal](limit.svg)", "", "| | measured | goal |"]
    lines.append("|---|--:|--:|")
    for one in figures:
        goal = "–" if one.goal is None else f"≤ {one.goal:.3g}{one.unit}"
        lines.append(f"| {one.name} | {one.shown} | {goal} |")
    return "\n".join([*lines, "", about, ""])


def plot(figures: Sequence[Figure]) -> str:
    """Each figure that has a goal as a bar, whose goal is the line, as SVG."""
    bars = [one for one in figures if one.goal]
    width, height = NAMES + 2 * GOAL + 90, LINE * len(bars) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, one in enumerate(bars):
        assert one.goal is not None
        share, top = one.value / one.goal, 10 + LINE * number
        length = max(1.0, min(2.0, share) * GOAL)
        colour = "#0072b2" if share <= 1 else "#d55e00"
        parts += [
            f'<text x="{NAMES - 8}" y="{top + 16}" text-anchor="end">{escape(one.name)}</text>',
            f'<rect x="{NAMES}" y="{top + 4}" width="{length:.1f}" height="{LINE - 8}" fill="{colour}"/>',
            f'<text x="{NAMES + length + 6:.1f}" y="{top + 16}">{escape(one.shown)}</text>',
        ]
    at = NAMES + GOAL
    parts += [f'<path d="M{at} 4V{height - 4}" stroke="#000" stroke-dasharray="4 3"/>', "</svg>"]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", action="store_true", help="texts of 16,384 tokens too")
    parser.add_argument("--interactions", type=int, default=2_000)
    arguments = parser.parse_args()
    loads = [os.getloadavg()[0]]
    figures = [*figures_of_text(SHAPES["bert"], MAX_TOKENS, arguments.rounds, PEERS)]
    if arguments.long:
        for shape in LONG_SHAPES.values():
            figures += figures_of_text(shape, MAX_LONG, 1, ())
            figures += figures_of_page(shape, MAX_LONG)
    figures += figures_of_first_picture(arguments.rounds)
    if arguments.interactions:
        figures += figures_of_use(arguments.interactions)
    loads.append(os.getloadavg()[0])
    command = f"python -m tests.benchmarks.limit --rounds {arguments.rounds}" + (" --long" if arguments.long else "")
    made = page(figures, table.machine(torch.get_num_threads(), command, arguments.rounds, loads))
    (HERE / "limit.md").write_text(made, encoding="utf-8")
    (HERE / "limit.svg").write_text(plot(figures), encoding="utf-8")
    print(made)


if __name__ == "__main__":
    main()
