"""Headlight beside other tools that show attention: python -m tests.benchmarks.proof [--browser] [--rounds 5].

`pip install -r tests/benchmarks/peers.txt` first, best in an environment of its own. Two random models (BERT-base and
GPT-2 shape) are saved once; every contender loads the same files and reads the same text, each time in a fresh process,
round after round in the same order. Prints a Markdown table: seconds of the pass with its capture, the most memory
above the loaded model, bytes to the browser, seconds to the first picture; medians. A contender that fails is told how,
and not asked again. Takes an hour or more, and 16 GB of memory for the largest of eager's runs.
"""

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
from tests.benchmarks.proof.models import SHAPES, Shape, save_model, text_of
from tests.benchmarks.proof.table import Results

#: Of the memory that is free when a process starts, so much may be taken.
SHARE = 0.8


def progress(line: str) -> None:
    print(f"  … {line}", file=sys.stderr, flush=True)


def limits(arguments: argparse.Namespace) -> Limits:
    return Limits(arguments.seconds, int(min(arguments.memory * 1e9, SHARE * available())))


def measure(
    shape: Shape, tokens: int, folder: Path, text: Path, arguments: argparse.Namespace
) -> dict[tuple[str, int, str], Results]:
    """All contenders on one model and one text, round after round."""
    found = {(shape.name, tokens, name): Results() for name in arguments.contenders}
    for number in range(arguments.rounds):
        for (_, _, name), results in found.items():
            if results.failure:
                continue
            module = "tests.benchmarks.proof.contenders"
            command = [sys.executable, "-m", module, name, str(folder), str(text)]
            try:
                figures = figures_of(command, limits(arguments))
                assert figures["tokens"] == tokens, f"{name} read {figures['tokens']} tokens"
                results.rounds.append(figures)
            except RunFailedError as failure:
                results.failure = str(failure)
            done = results.failure or f"{results.rounds[-1]['seconds']:.2f} s"
            progress(f"{shape.name}, {tokens} tokens, round {number + 1}, {name}: {done}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 512, 2_048, 4_096])
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300.0, help="that one process may take")
    parser.add_argument("--memory", type=float, default=16.0, help="GB that one process may take, if so much is free")
    parser.add_argument("--browser", action="store_true", help="time until drawn in Chromium too")
    parser.add_argument("--out", type=Path, help="where to write the table as well")
    arguments = parser.parse_args()
    began = os.getloadavg()[0]
    measured: dict[tuple[str, int, str], Results] = {}
    command = shlex.join(["python", "-m", "tests.benchmarks.proof", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "models"
        for shape in (SHAPES[name] for name in arguments.models):
            folder = save_model(shape, root)
            for tokens in arguments.tokens:
                text = Path(temporary) / f"{shape.folder}-{tokens}.txt"
                text.write_text(text_of(shape, tokens))
                measured |= measure(shape, tokens, folder, text, arguments)
        if arguments.browser:
            from tests.benchmarks.proof.drawn import draw_all

            draw_all(measured, root, arguments)
    load = f"{began:.1f} at the beginning, {os.getloadavg()[0]:.1f} at the end"
    page = table.page(measured, table.machine(torch.get_num_threads(), command, load), ())
    if arguments.out:
        arguments.out.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
