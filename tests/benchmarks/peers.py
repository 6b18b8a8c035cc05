"""One text beside other tools that show attention: python -m tests.benchmarks.peers [--tokens 64 512] [--rounds 3].

`pip install -r tests/benchmarks/peers.txt` first. A random BERT and a random GPT-2 of the originals' shape are saved
once; every tool loads the same files and reads the same text, each time in a process of its own. Prints a Markdown
table: seconds of the pass with its capture, and the most memory above the loaded model; medians. A tool that takes too
long or too much memory is told so.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import ctypes
import gc
import importlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
import transformers

from tests.model.adapters.zoo import save_tokenizer, text_of

#: Model → its tokenizer, the setting of its longest text, and the library's class.
SHAPES: Final = {
    "bert": ("wordpiece", "max_position_embeddings", transformers.AutoModelForMaskedLM),
    "gpt2": ("bytes", "n_positions", transformers.AutoModelForCausalLM),
}
LONGEST: Final = 4_096
#: Tokens of the text with which each tool warms up.
WARM_UP: Final = 16
#: What one process may take.
SECONDS, BYTES = 600, 16 * 10**9
#: Seconds and bytes.
Taken = tuple[float, int]


def save(folder: Path, model_type: str) -> None:
    """A random model that reads texts as long as are compared, with a tokenizer."""
    tokenizer, setting, head = SHAPES[model_type]
    torch.manual_seed(0)
    head.from_config(transformers.AutoConfig.for_model(model_type, **{setting: LONGEST})).save_pretrained(folder)
    save_tokenizer(folder, tokenizer)


def held(field: str) -> int:
    """Bytes that this process holds (`VmRSS`), or the most that it held (`VmHWM`)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition(f"{field}:")[2].split()[0]) * 1024


def measured(run: Callable[[], object]) -> Taken:
    """Of one run: its seconds, and the most bytes above what was held before."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    # 5 sets the peak back to what is held now; see proc(5), /proc/pid/clear_refs.
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before, began = held("VmRSS"), time.perf_counter()
    kept = run()
    seconds, most = time.perf_counter() - began, held("VmHWM")
    del kept
    return seconds, most - before


def ids_of(folder: Path, tokens: int) -> torch.Tensor:
    """A text of so many tokens."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return torch.tensor([tokenizer(text_of(tokenizer, tokens), verbose=False).input_ids])


def read(folder: Path, attention: str, **options: bool) -> Callable[[torch.Tensor], Any]:
    """A pass of the library's own."""
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation=attention).eval()
    return lambda ids: model(input_ids=ids, **options)


def plain(folder: Path) -> Callable[[torch.Tensor], object]:
    """The library's fused pass, of which nothing is kept."""
    return read(folder, "sdpa")


def ours(folder: Path) -> Callable[[torch.Tensor], object]:
    """Headlight: the fused pass with the queries, keys and values of every head kept."""
    from model.adapters.text_reader import TextReader
    from model.nn.hooks import CALL, listen
    from model.opening import open_reader

    reader = open_reader(folder)
    assert isinstance(reader, TextReader)
    base: Any = reader.model.base_model

    def captured(ids: torch.Tensor) -> object:
        with listen(record={CALL}) as recorded:
            output = base(input_ids=ids)
        return output, reader.layout.inputs(recorded)

    return captured


def eager(folder: Path) -> Callable[[torch.Tensor], object]:
    """transformers with its eager attention and `output_attentions`."""
    return read(folder, "eager", output_attentions=True)


def lens(folder: Path) -> Callable[[torch.Tensor], object]:
    """TransformerLens: `run_with_cache`, which keeps every activation."""
    from transformer_lens.model_bridge import TransformerBridge

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    bridge = TransformerBridge.boot_transformers(str(folder), device="cpu", tokenizer=tokenizer)
    run: Callable[[torch.Tensor], object] = bridge.run_with_cache
    return run


def bertviz(folder: Path) -> Callable[[torch.Tensor], object]:
    """bertviz: the page of its head view, of the weights that eager attention returns."""
    view, weights = importlib.import_module("bertviz.head_view"), eager(folder)

    def page(ids: torch.Tensor) -> str:
        attentions: Any = weights(ids)
        tokens = [str(position) for position in range(ids.size(1))]
        return str(view.head_view(attentions.attentions, tokens, html_action="return").data)

    return page


TOOLS: Final = {tool.__name__: tool for tool in (plain, ours, eager, lens, bertviz)}


def told(name: str, folder: Path, tokens: int) -> Taken | str:
    """What a tool takes in a process of its own, or why it does not get there."""
    command = [sys.executable, "-m", "tests.benchmarks.peers", "--one", name, str(folder), "--tokens", str(tokens)]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not within {SECONDS} s"
    if done.returncode:
        return "too much memory" if "emory" in done.stderr else f"failed: {done.stderr.strip().splitlines()[-1][:100]}"
    seconds, most = json.loads(done.stdout.splitlines()[-1])
    return seconds, most


def cell(taken: list[Taken | str]) -> str:
    """The medians of all rounds."""
    numbers = [each for each in taken if not isinstance(each, str)]
    if not numbers:
        return str(taken[0])
    seconds, most = (statistics.median(each) for each in zip(*numbers, strict=True))
    return f"{1e3 * seconds:,.0f} ms, {most / 1e6:,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 512, 2_048, 4_096])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", nargs=2, metavar=("TOOL", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
        name, folder = arguments.one[0], Path(arguments.one[1])
        with torch.inference_mode():
            run, ids = TOOLS[name](folder), ids_of(folder, arguments.tokens[0])
            run(ids[:, :WARM_UP])
            print(json.dumps(measured(lambda: run(ids))))
        return
    print(f"| one text, read | tokens | {' | '.join(TOOLS)} |\n|---|--:{'|---' * len(TOOLS)}|")
    with tempfile.TemporaryDirectory() as root:
        for model_type in SHAPES:
            save(folder := Path(root) / model_type, model_type)
            for tokens in arguments.tokens:
                taken: dict[str, list[Taken | str]] = {name: [] for name in TOOLS}
                for _ in range(arguments.rounds):
                    for name, rounds in taken.items():
                        rounds.append(told(name, folder, tokens))
                cells = " | ".join(map(cell, taken.values()))
                print(f"| {model_type} | {tokens:,} | {cells} |", flush=True)


if __name__ == "__main__":
    stopping.leave(main)
