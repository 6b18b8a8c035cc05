"""What decoding costs, beside transformers' own: python -m tests.benchmarks.decoding. Prints a table of one run.

One sentence, greedily, by models of one shape with random weights (nobody stops early): ours with every head's
attention kept, ours without, and `generate` of a MarianMT with attentions returned and without. The four take turns, so
that a busy machine slows all alike; times are medians over the rounds, ratios medians of the rounds' ratios.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import GenerationConfig, MarianConfig, MarianMTModel

from model import Translator
from model.config import TransformerConfig
from model.decoding.search import EXTRA_LENGTH, greedy_search
from model.decoding.session import DecodingSession
from model.nn.architectures import lay_out_for_decoding
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer

VOCABULARY = 8_000
SHAPES = {
    "6 + 6 layers, d_model 256 (ships)": (6, 256, 8, 1024),
    "6 + 6 layers, d_model 512 (the paper's base)": (6, 512, 8, 2048),
    "6 + 6 layers, d_model 256, 4 heads": (6, 256, 4, 1024),
}
Shape = tuple[int, int, int, int]


def ours(shape: Shape, source: list[int], tokenizer: Tokenizer) -> dict[str, Callable[[], int]]:
    """Greedy decoding with our model, as a session that keeps everything, and plain; each returns how much it wrote."""
    layers, d_model, heads, d_ff = shape
    config = TransformerConfig(
        vocab_size=VOCABULARY, d_model=d_model, num_layers=layers, num_heads=heads, d_ff=d_ff, norm="post"
    )
    model = Transformer(config).eval()
    lay_out_for_decoding(model)  # as of every checkpoint that is loaded
    with torch.no_grad():  # </s> has no probability to win, as with MarianMT's `min_new_tokens`
        model.decoder.embedding.tokens.weight[config.eos_id] = 0.0

    def kept() -> int:
        session = DecodingSession(model, tokenizer, "", source)
        session.run()
        return len(session.trace().steps)

    return {
        "ours, every head kept": kept,
        "ours, nothing kept": lambda: len(greedy_search(model, torch.tensor([source]), None)[0]),
    }


def marian(shape: Shape, source: list[int]) -> dict[str, Callable[[], int]]:
    """`generate` of a MarianMT of this shape: eager with all attentions returned, and plain."""
    layers, d_model, heads, d_ff = shape
    written = len(source) - 1 + EXTRA_LENGTH
    settings = GenerationConfig(
        max_new_tokens=written, min_new_tokens=written, do_sample=False, num_beams=1,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=3, use_cache=True,
    )  # fmt: skip

    def made(attention: str) -> MarianMTModel:
        config = MarianConfig(
            vocab_size=VOCABULARY, d_model=d_model, encoder_layers=layers, decoder_layers=layers,
            encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=d_ff,
            decoder_ffn_dim=d_ff, max_position_embeddings=512, pad_token_id=0, eos_token_id=3,
            decoder_start_token_id=0,
        )  # fmt: skip
        model = MarianMTModel(config).eval()
        model.set_attn_implementation(attention)
        return model

    def run(model: Any, attentions: bool) -> int:
        ids = torch.tensor([source])
        made = model.generate(
            ids, attention_mask=torch.ones_like(ids), generation_config=settings,
            output_attentions=attentions, return_dict_in_generate=True,
        )  # fmt: skip
        return made.sequences.size(1) - 1

    eager, fused = made("eager"), made("sdpa")
    return {
        "generate, attentions returned": lambda: run(eager, True),
        "generate, nothing returned": lambda: run(fused, False),
    }


def seconds(run: Callable[[], int], expected: int) -> float:
    started = time.perf_counter()
    written = run()
    assert written == expected, f"{written} tokens written, {expected} expected"
    return time.perf_counter() - started


def measure(name: str, shape: Shape, tokenizer: Tokenizer, length: int, rounds: int) -> None:
    torch.manual_seed(0)
    source = [*torch.randint(4, VOCABULARY, (length - 1,)).tolist(), 3]
    runs = {**ours(shape, source, tokenizer), **marian(shape, source)}
    expected = length - 1 + EXTRA_LENGTH
    for run in runs.values():
        seconds(run, expected)
    taken = [[seconds(run, expected) for run in runs.values()] for _ in range(rounds)]
    print(f"\n{name}: {length} tokens read, {expected} written")
    for column, run_name in enumerate(runs):
        times = [row[column] for row in taken]
        print(f"  {run_name:32} {statistics.median(times) * 1e3:8.0f} ms")
    kept, plain, returned, nothing = zip(*taken, strict=True)
    print(f"  speed with every head kept ÷ without:      {ratio(plain, kept):.2f}")
    print(f"  speed with every head kept ÷ generate's:   {ratio(returned, kept):.2f}")
    print(f"  speed with nothing kept ÷ generate's:      {ratio(nothing, plain):.2f}")


def ratio(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def forced(translator: Translator, rounds: int) -> None:
    """What the server computes when another token is forced at step 20 of a long sentence."""
    text = " ".join(["The animal didn't cross the street because it was too tired, and the man waited for it."] * 2)
    session = translator.decode(text, extras={"hook_head_output"})
    session.run()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        branch = session.branch()
        while len(branch.steps) > 20:
            branch.back()
        branch.force(session.steps[20].candidates[1].token_id)
        branch.run()
        branch.trace()
        times.append(time.perf_counter() - started)
    print(f"\nanother token at step 20, {len(branch.steps) - 20} steps anew: {statistics.median(times) * 1e3:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--length", type=int, default=16, help="tokens that are read")
    arguments = parser.parse_args()
    translator = Translator.load(arguments.checkpoint, device="cpu")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} CPU threads")
    for name, shape in SHAPES.items():
        measure(name, shape, translator.tokenizer, arguments.length, arguments.rounds)
    forced(translator, arguments.rounds)


if __name__ == "__main__":
    stopping.leave(main)
