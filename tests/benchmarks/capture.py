"""What capture costs: python -m tests.benchmarks.capture [--checkpoint DIR]. Prints ratios of times taken in one run.

Plain and captured runs alternate, so that a busy machine slows both alike; each figure is the median over the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from model import Translator
from model.decoding.search import greedy_search
from model.nn.hooks import ALWAYS_RECORDED, listen

SENTENCE = "The animal didn't cross the street because it was too tired, and the driver waited until it had gone."


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def compare(name: str, plain: Callable[[], object], captured: Callable[[], object], rounds: int) -> None:
    plain(), captured()
    pairs = [(seconds(plain), seconds(captured)) for _ in range(rounds)]
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{name:42} {statistics.median(a for a, _ in pairs) * 1e3:8.1f} ms   with capture × {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    translator = Translator.load(arguments.checkpoint)
    model = translator.model
    print(f"{translator.device}, {torch.get_num_threads()} threads, {arguments.rounds} rounds")

    for length in (32, 128, 512):
        ids = torch.randint(4, model.config.vocab_size, (1, length), device=model.device)

        @torch.inference_mode()
        def plain(ids: torch.Tensor = ids) -> None:
            model(ids, ids)

        def captured(plain: Callable[[], None] = plain) -> None:
            with listen(record=ALWAYS_RECORDED):
                plain()

        compare(f"one pass, {length} + {length} tokens", plain, captured, arguments.rounds)

    source = torch.tensor([translator.source_ids(SENTENCE)], device=model.device)

    def session() -> None:
        stepping = translator.decode(SENTENCE)
        stepping.run()
        stepping.trace()

    compare(
        "greedy decoding → session with its trace",
        lambda: greedy_search(model, source, None),
        session,
        arguments.rounds,
    )


if __name__ == "__main__":
    main()
