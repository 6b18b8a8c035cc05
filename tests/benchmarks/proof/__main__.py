"""Headlight beside other tools that show attention: python -m tests.benchmarks.proof [--browser] [--rounds 5].

`pip install -r tests/benchmarks/peers.txt` first, best in an environment of its own. Two random models (BERT-base and
GPT-2 shape) are saved once; every contender loads the same files and reads the same text, each time in a fresh process,
round after round in the same order. Prints a Markdown table: seconds of the pass with its capture, the most memory
above the loaded model, bytes to the browser, seconds to the first picture; medians. A contender that fails is told how,
and not asked again. Takes an hour or more, and 16 GB of memory for the largest of eager's runs.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

import torch

from tests.benchmarks.proof import table
from tests.benchmarks.proof.contenders import CONTENDERS
from tests.benchmarks.proof.limits import Limits, RunFailedError, figures_of
from tests.benchmarks.proof.memory import available
from tests.benchmarks.proof.models import LONG_SHAPES, SHAPES, Case, save_model, text_of
from tests.benchmarks.proof.table import Results

#: Of the memory that is free when a process starts, so much may be taken.
SHARE = 0.8


def progress(line: str) -> None:
    print(f"  … {line}", file=sys.stderr, flush=True)


def limits(arguments: argparse.Namespace) -> Limits:
    return Limits(arguments.seconds, int(min(arguments.memory * 1e9, SHARE * available())))


def measure(case: Case, name: str, results: Results, arguments: argparse.Namespace) -> None:
    """One contender reads one text with one model, in a process of its own."""
    module = "tests.benchmarks.proof.contenders"
    try:
        command = [sys.executable, "-m", module, name, str(case.folder), str(case.text)]
        figures = figures_of(command, limits(arguments))
        if figures["tokens"] != case.tokens:
            raise RunFailedError(f"read {figures['tokens']:,} tokens instead")
        results.rounds.append(figures)
    except RunFailedError as failure:
        results.failure = str(failure)
    done = results.failure or f"{results.rounds[-1]['seconds']:.2f} s"
    progress(f"{case.shape.name}, {case.tokens} tokens, {name}: {done}")


def make_cases(root: Path, arguments: argparse.Namespace) -> list[Case]:
    """Every model with every length, saved."""
    cases = []
    for shape in ((SHAPES | LONG_SHAPES)[name] for name in arguments.models):
        folder = save_model(shape, root / "models")
        for tokens in arguments.tokens:
            text = root / f"{shape.folder}-{tokens}.txt"
            text.write_text(text_of(shape, tokens), encoding="utf-8")
            cases.append(Case(shape, tokens, folder, text))
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(SHAPES), choices=[*SHAPES, *LONG_SHAPES])
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 512, 2_048, 4_096])
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=600.0, help="that one process may take")
    parser.add_argument("--memory", type=float, default=16.0, help="GB that one process may take, if so much is free")
    parser.add_argument("--browser", action="store_true", help="time until drawn in Chromium too")
    parser.add_argument("--out", type=Path, help="where to write the table as well, anew after each round")
    arguments = parser.parse_args()
    command = shlex.join(["python", "-m", "tests.benchmarks.proof", *sys.argv[1:]])
    loads = [os.getloadavg()[0]]
    page = ""
    with tempfile.TemporaryDirectory() as temporary:
        cases = make_cases(Path(temporary), arguments)
        measured = {(case.shape.name, case.tokens, name): Results() for case in cases for name in arguments.contenders}
        if arguments.browser:
            from tests.benchmarks.proof.drawn import draw_all

            draw_all(cases, measured, Path(temporary), limits(arguments))
        for number in range(arguments.rounds):
            for case in cases:
                for name in arguments.contenders:
                    results = measured[case.shape.name, case.tokens, name]
                    if not results.failure:
                        measure(case, name, results, arguments)
            loads.append(os.getloadavg()[0])
            about = table.machine(torch.get_num_threads(), command, number + 1, loads)
            page = table.page(measured, about)
            if arguments.out:
                arguments.out.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    stopping.leave(main)
