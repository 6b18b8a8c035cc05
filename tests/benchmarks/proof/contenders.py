"""What is compared, each in a process of its own: python -m tests.benchmarks.proof.contenders NAME FOLDER TEXT.

Every contender loads the same folder, warms up with a short text, and then reads the text once. Seconds are of that
one pass with its capture; memory is the most that was held during it, less what was held before. Our own pass stands
between two plain fused ones of the same process. Prints one line of JSON.
"""

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
import transformers

from tests.benchmarks.proof.limits import MARK
from tests.benchmarks.proof.memory import peak, settle

WARM_UP: Final = 16
Figures = dict[str, float | str]
#: What bertviz made, for who wants to see it drawn.
PAGES: Final[list[str]] = []


def measured(run: Callable[[], Any]) -> tuple[float, int, Any]:
    """Seconds, bytes above what was held before, and what came out, which is held until it was counted."""
    before = settle()
    began = time.perf_counter()
    kept = run()
    seconds = time.perf_counter() - began
    return seconds, peak() - before, kept


def inputs_of(tokenizer: Any, text: str) -> dict[str, torch.Tensor]:
    """What a model of `transformers` reads, without padding."""
    ids = torch.tensor([tokenizer(text, verbose=False)["input_ids"]])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def shortened(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same, cut to what a first pass needs to find everything in place."""
    return {name: tensor[:, :WARM_UP] for name, tensor in given.items()}


def ours(folder: Path, text: str) -> Figures:
    """Headlight: the fused pass with every q, k, v kept, then the grid of all heads, then one head opened."""
    from model.adapters.text_reader import TextReader
    from model.nn.hooks import CALL, listen
    from model.opening import open_reader
    from tests.benchmarks.proof import pictures

    reader = open_reader(folder)
    assert isinstance(reader, TextReader)
    base: Any = reader.model.base_model
    given = inputs_of(reader.pieces.tokenizer, text)
    options = {"use_cache": False} if reader.abilities.kind == "decoder" else {}

    def plain(given: dict[str, torch.Tensor] = given) -> Any:
        return base(**given, **options)

    def captured(given: dict[str, torch.Tensor] = given) -> Any:
        with listen(record={CALL}) as recorded:
            output = base(**given, **options)
        return output, reader.layout.inputs(recorded)

    def fused() -> tuple[float, int]:
        # The library's own fused attention, with nothing of ours in it.
        reader.model.set_attn_implementation("sdpa")  # type: ignore[operator]
        seconds, held, _ = measured(plain)
        reader.model.set_attn_implementation("headlight")  # type: ignore[operator]
        return seconds, held

    plain(shortened(given)), captured(shortened(given))
    before = fused()
    seconds, held, kept = measured(captured)
    _, inputs = kept
    size = sum(one.nbytes for layers in inputs.values() for at in layers for one in (at.query, at.key, at.value))
    del kept, inputs
    after = fused()
    figures: Figures = {
        "tokens": given["input_ids"].size(1),
        "seconds": seconds,
        "memory": held,
        "plain_seconds": (before[0] + after[0]) / 2,
        "plain_memory": min(before[1], after[1]),
        "held": size,
    }
    return figures | pictures.first_pictures(reader, text)


def eager(folder: Path, text: str) -> Figures:
    """`transformers` with its eager attention and `output_attentions=True`."""
    read, given = _eager_model(folder, text)
    seconds, held, _ = measured(lambda: read(given))
    return {"tokens": given["input_ids"].size(1), "seconds": seconds, "memory": held}


def lens(folder: Path, text: str) -> Figures:
    """TransformerLens: `run_with_cache`, which keeps every activation."""
    return _lens(folder, text, None)


def lens_patterns(folder: Path, text: str) -> Figures:
    """TransformerLens: `run_with_cache` of attention patterns alone."""
    return _lens(folder, text, lambda name: name.endswith("hook_pattern"))


def head_view(folder: Path, text: str) -> Figures:
    """bertviz's head view of the attentions that eager attention returns."""
    return _bertviz(folder, text, "head_view")


def model_view(folder: Path, text: str) -> Figures:
    """bertviz's model view of the attentions that eager attention returns."""
    return _bertviz(folder, text, "model_view")


CONTENDERS: Final[dict[str, Callable[[Path, str], Figures]]] = {
    "ours": ours,
    "eager": eager,
    "lens": lens,
    "lens_patterns": lens_patterns,
    "head_view": head_view,
    "model_view": model_view,
}


def _eager_model(folder: Path, text: str) -> tuple[Callable[[Any], Any], dict[str, torch.Tensor]]:
    """A model that returns its attentions, warm, and what it is to read."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True, attn_implementation="eager")
    model.eval()
    options = {"use_cache": False} if model.config.model_type == "gpt2" else {}
    given = inputs_of(tokenizer, text)

    def read(what: dict[str, torch.Tensor]) -> Any:
        return model(**what, **options, output_attentions=True)

    read(shortened(given))
    return read, given


def _lens(folder: Path, text: str, wanted: Callable[[str], bool] | None) -> Figures:
    if importlib.util.find_spec("transformer_lens") is None:
        return {"failed": "not installed: pip install -r tests/benchmarks/peers.txt"}
    from transformer_lens.model_bridge import TransformerBridge

    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    bridge = TransformerBridge.boot_transformers(str(folder), device="cpu", tokenizer=tokenizer)
    given = inputs_of(tokenizer, text)["input_ids"]
    bridge.run_with_cache(given[:, :WARM_UP], names_filter=wanted)
    seconds, held, kept = measured(lambda: bridge.run_with_cache(given, names_filter=wanted))
    patterns = [name for name in kept[1] if name.endswith("hook_pattern")]
    assert len(patterns) >= bridge.cfg.n_layers, f"{len(patterns)} patterns were kept"
    return {"tokens": given.size(1), "seconds": seconds, "memory": held}


def _bertviz(folder: Path, text: str, view: str) -> Figures:
    module = importlib.import_module(f"bertviz.{view}")
    read, given = _eager_model(folder, text)
    tokens = [f"token{position}" for position in range(given["input_ids"].size(1))]

    def page() -> str:
        attention = read(given).attentions
        return str(getattr(module, view)(attention, tokens, html_action="return").data)

    return _page(page, len(tokens))


def _page(page: Callable[[], str], tokens: int) -> Figures:
    seconds, held, html = measured(page)
    PAGES.append(html)
    return {"tokens": tokens, "seconds": seconds, "memory": held, "bytes": len(html.encode()), "picture": seconds}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("text", type=Path, help="a file")
    parser.add_argument("--page", type=Path, help="where to write bertviz's page")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    with torch.inference_mode():
        try:
            figures = CONTENDERS[arguments.contender](arguments.folder, arguments.text.read_text(encoding="utf-8"))
        except MemoryError:
            figures = {"failed": "out of memory"}
    if arguments.page and PAGES:
        arguments.page.write_text(PAGES[-1], encoding="utf-8")
    print(MARK + json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
