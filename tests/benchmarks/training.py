"""How well training uses the machine: python -m tests.benchmarks.training [--threads N] [--profile].

Takes real training steps of the shipped shape on sentences of the pronoun curriculum, counts the floating point
operations of their matrix products (torch's own counter), and divides by what the same machine reaches, in the same
run and with as many threads, on one large product in bfloat16. On CUDA it also gives the share of the chip's peak. With
--profile it says what a step's time goes into, as torch's profiler counts it.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from model.checkpoint import load_checkpoint
from model.nn.layers import DecoderLayer, EncoderLayer
from model.reader import choose_device
from model.thread_settings import keep_freed_memory
from model.training.batches import encode_pairs, endless_batches
from model.training.loop import TrainingRun, TrainSettings
from model.training.objective import Objective
from model.training.pronouns import training_pairs

PEAKS = {"H100": 989e12, "H200": 989e12, "A100": 312e12, "L40": 181e12, "RTX 4090": 165e12}
"""Dense bfloat16 operations a second, from the makers' data sheets."""


PARTS: Mapping[str, tuple[str, ...]] = {
    "matrix products": ("mm", "addmm", "bmm", "baddbmm", "mkldnn_linear", "linear", "matmul"),
    "attention": ("scaled_dot_product", "flash_attention"),
    "softmax and loss": ("softmax", "cross_entropy", "nll_loss", "gather", "logsumexp"),
    "optimizer": ("fused_adam", "linalg_vector_norm", "foreach", "Optimizer"),
    "dropout": ("dropout", "bernoulli", "rand"),
    "norms": ("layer_norm",),
    "casts and copies": ("copy_", "to", "cat", "clone", "contiguous"),
    "embeddings": ("embedding", "index"),
    "sums, products, activations": ("add", "mul", "div", "sum", "relu", "threshold", "fill", "zero", "masked", "where"),
}
"""What is done in a step → how names of torch's operations begin that do it."""


def profile(step: Callable[[], object], steps: int) -> list[tuple[str, float, str]]:
    """Part, share of the time and its longest operation, for steps on the CPU; the largest first."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    with profiler(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(steps):
            step()
    taken: dict[str, dict[str, float]] = {}
    for event in profiled.key_averages():
        name = event.key.removeprefix("aten::").lstrip("_")
        part = next((part for part, begins in PARTS.items() if name.lower().startswith(begins)), "other")
        taken.setdefault(part, {})[event.key] = event.self_cpu_time_total
    total = sum(sum(of.values()) for of in taken.values())
    rows = [(part, sum(of.values()) / total, max(of, key=lambda name: of[name])) for part, of in taken.items()]
    return sorted(rows, key=lambda row: -row[1])


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def best_rate(run: Callable[[], object], work: float, seconds: float, device: torch.device) -> float:
    """Work a second of the fastest of many runs."""
    run()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        run()
        synchronize(device)
        best = min(best, time.perf_counter() - started)
    return work / best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--tokens-per-batch", type=int, default=4_000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device")
    parser.add_argument("--profile", action="store_true", help="what a step's time goes into, on the CPU")
    parser.add_argument("--compile", action="store_true", help="each layer compiled, for shapes that vary")
    parser.add_argument("--float32", action="store_true", help="products in float32, without casts")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()

    checkpoint = load_checkpoint(arguments.checkpoint, device)
    pairs = [pair.pair for pair in training_pairs(20_000, seed=1)]
    examples = encode_pairs(pairs, checkpoint.tokenizer, 100)
    settings = TrainSettings(tokens_per_batch=arguments.tokens_per_batch, peak=1e-6, bf16=not arguments.float32)
    run = TrainingRun(Path(tempfile.mkdtemp()), checkpoint.model.config, checkpoint.tokenizer, settings, device)
    run.start_from(checkpoint.model)
    objective = Objective(run.model.train(), settings.smoothing, settings.emphasis, (), bf16=run.bf16)
    batches = list(islice(endless_batches(examples, run.model.config, settings.tokens_per_batch, seed=1), 8))

    with FlopCounterMode(display=False) as counter:
        for batch in batches:
            run._take_step(objective, batch)
    tokens = sum(batch.num_tokens for batch in batches)
    filled = tokens / sum(batch.source.numel() + batch.target_in.numel() for batch in batches)
    operations = counter.get_total_flops() / tokens
    if arguments.compile:
        for module in run.model.modules():
            if isinstance(module, EncoderLayer | DecoderLayer):
                module.compile(dynamic=True)
        for batch in batches:
            run._take_step(objective, batch)

    size = 2048 if device.type == "cpu" else 8192
    a, b = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    limits, rates = [], []
    # Limit and training alternate, so that a busy machine slows both alike.
    for _ in range(4):
        limits.append(best_rate(lambda: a @ b, 2 * size**3, 1.0, device))
        started = time.perf_counter()
        taken = 0
        for step in range(arguments.steps // 4):
            batch = batches[step % len(batches)]
            run._take_step(objective, batch)
            taken += batch.num_tokens
        synchronize(device)
        rates.append(taken / (time.perf_counter() - started))
    limit, rate = max(limits), sorted(rates)[len(rates) // 2]
    print(f"{device}, {arguments.threads} threads, batches of {tokens // len(batches):,} tokens (source and target)")
    print(f"padding             {1 - filled:10.0%} of what is computed")
    print(f"training            {rate:10,.0f} tokens/s = {rate * operations / 1e9:,.0f} GFLOP/s of matrix products")
    print(f"one large product   {limit / 1e9:10,.0f} GFLOP/s in bfloat16")
    print(f"share of that limit {rate * operations / limit:10.0%}")
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        peak = next((value for chip, value in PEAKS.items() if chip in name), None)
        share = "unknown chip" if peak is None else f"{rate * operations / peak:.1%}"
        print(f"share of the peak of {name}: {share}")
    if arguments.profile:
        next_batch = cycle(batches)
        for part, part_share, longest in profile(lambda: run._take_step(objective, next(next_batch)), 8):
            print(f"{part_share:6.1%}  {part} ({longest})")


if __name__ == "__main__":
    stopping.leave(main)
