"""What QK and OV of one head cost with a large vocabulary: python -m tests.benchmarks.vocabulary [--pieces 65001].

A random encoder–decoder in the shape of OPUS-MT, in a process of its own for each row. A norm makes all tokens of this
model equally long, which is the slowest, for then no pair can be left out.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context

import torch

from model.analysis.head_circuits import copying_scores, head_circuits
from model.config import TransformerConfig
from model.nn.transformer import Transformer

SITE = "decoder.self"
PAIRS = 10
ROWS = ("one head read", "the best pairs of the vocabulary", "copying scores of a layer")


def made(pieces: int) -> Transformer:
    """One layer of each stack."""
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=pieces, d_model=512, num_layers=1, num_heads=8, d_ff=64, norm="pre")
    return Transformer(config).eval()


def cost(row: str, pieces: int) -> tuple[float, float, float]:
    """Seconds by the clock and of all cores, and MB at the peak above the model."""
    model = made(pieces)
    circuits = head_circuits(model, SITE, 0, 3) if row == ROWS[1] else None
    runs: dict[str, Callable[[], object]] = {
        ROWS[0]: lambda: head_circuits(model, SITE, 0, 3),
        ROWS[1]: lambda: circuits and circuits.best_pairs(PAIRS),
        ROWS[2]: lambda: copying_scores(model, SITE),
    }
    before, began, computed = _peak(), time.perf_counter(), time.process_time()
    runs[row]()
    return time.perf_counter() - began, time.process_time() - computed, _peak() - before


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pieces", type=int, default=65_001)
    arguments = parser.parse_args()
    print(f"{arguments.pieces:,} pieces, {torch.get_num_threads()} threads")
    for row in ROWS:
        with get_context("spawn").Pool(1) as process:
            seconds, computed, megabytes = process.apply(cost, (row, arguments.pieces))
        print(f"  {row:36} {seconds:8.1f} s, {computed:8.1f} s of all cores, {megabytes:8.0f} MB", flush=True)


if __name__ == "__main__":
    stopping.leave(main)
