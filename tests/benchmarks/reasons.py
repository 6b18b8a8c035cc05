"""Time and memory of an answer to why a head looks where it looks: python -m tests.benchmarks.reasons.

Of the checkpoint that ships and of a random model of BERT-base's shape, asked of the last layer of the encoder: the
score, its parts, and the words that the largest attention among them read. Then the same of another head and key. The
trace is not counted; memory is by how much the largest of a process of its own grows (Linux), what it keeps included.
"""

import multiprocessing
import resource
import time
from dataclasses import replace
from typing import Any, Final

import torch
import transformers

from model.adapters.base_reader import Opened
from model.adapters.library import OURS
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.open_folder import explore
from model.adapters.text_reader import TextReader
from model.analysis.reasons.score import Question, explain
from model.opening import open_reader
from model.reader import Reader
from tests.model.adapters.zoo import metaspace
from tests.paths import ROOT

#: Shape → a text that its tokenizer cuts into some 512 tokens.
TEXTS: Final = {"shipped": "dog " * 511, "BERT-base": "dog " * 170}


def measured(shape: str) -> str:
    """One line: tokens, seconds of the first answer and of another of the same trace, memory, the sum's error."""
    torch.set_num_threads(2)
    reader = _reader(shape)
    trace = reader.trace(TEXTS[shape], "Er." if "decoder.cross" in reader.abilities.sites else None)
    length, layer = len(trace.source_tokens), trace.layers_of("encoder.self") - 1
    question = Question(site="encoder.self", layer=layer, head=1, row=length // 2, key=3, rival=length - 1)
    before, seconds, reasons = _largest(), [], []
    for asked in (question, replace(question, head=2, key=5)):
        start = time.perf_counter()
        reason = explain(reader.parts, trace, asked)
        largest = next(part for part in reason.query.shares() if part.kind == "self")
        reason.query.follow(largest).words()
        seconds.append(time.perf_counter() - start)
        reasons.append(reason)
    (first, second), error = seconds, max(reason.error for reason in reasons)
    grown = _largest() - before
    return f"{shape}: {length} tokens, first {first:.3f} s, then {second:.3f} s, {grown:.0f} MiB, error {error:.1e}"


def _largest() -> float:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _reader(shape: str) -> Reader:
    if shape == "shipped":
        return open_reader(ROOT / "checkpoints" / "en-de")
    torch.manual_seed(1)
    tokenizer = metaspace()
    config = transformers.BertConfig(vocab_size=len(tokenizer))
    model: Any = transformers.BertModel(config).eval()
    model.set_attn_implementation(OURS)
    layout, abilities = explore(model)
    return TextReader(Opened(model, layout, abilities, shape, shape), LibraryTokenizer(tokenizer))


if __name__ == "__main__":
    for each in TEXTS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(measured, (each,)), flush=True)
