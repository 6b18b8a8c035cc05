"""Damaged traces, atlases and model folders, by a fixed seed: python -m tests.benchmarks.hostile_files [--inputs 500].

Bytes flipped and cut off, numbers beyond reason, fields of another type or missing, arrays of another shape. Whatever a
file holds, reading it ends well or in an error whose message is meant for a person, in bounded time and memory.
"""

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from model import Translator, load_trace, open_reader, save_trace
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from model.errors import HeadlightError
from tests.benchmarks.small import save_small
from tests.model.adapters.zoo import save_model

VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 1, 2, 10**6, 10**40, 1e999, -1e999, float("nan"), "x", "", "x" * 5_000, [], {}, [[]], [None],
    {"a": 1}, "\ud800", 1.5, [1, 2, 3], ["a"],
)  # fmt: skip
TYPES: Final = (np.complex64, np.int8, np.float16, np.float64, np.bool_, np.uint8, "<U3", "M8[s]", ">f4")
#: Bytes that Python may take at once while a small file is read.
MOST_BYTES: Final = 100 << 20


@dataclass
class Outcome:
    """How many inputs were read and how many refused, the longest time in seconds, and what went wrong."""

    read: int = 0
    refused: int = 0
    longest: float = 0.0
    most: int = 0

    def __str__(self) -> str:
        return f"{self.read} read, {self.refused} refused; longest {self.longest:.2f} s, most {self.most >> 20} MB"


def mutated(value: Any, random_: random.Random, depth: int = 0) -> Any:
    """The JSON value with one part of it missing or another."""
    if not isinstance(value, dict | list) or not value or (depth and random_.random() < 0.25):
        return random_.choice(VALUES)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key = random_.choice(list(copy)) if isinstance(copy, dict) else random_.randrange(len(copy))
    if random_.random() < 0.15:
        del copy[key]
    else:
        copy[key] = mutated(copy[key], random_, depth + 1)
    return copy


def damaged(content: bytes, random_: random.Random) -> bytes:
    """The bytes with a few of them others, and sometimes the end missing."""
    changed = bytearray(content)
    for _ in range(random_.randint(1, 8)):
        changed[random_.randrange(len(changed))] = random_.randrange(256)
    return bytes(changed[: random_.randrange(len(changed))] if random_.random() < 0.2 else changed)


def reshaped(array: np.ndarray, random_: random.Random) -> np.ndarray:
    """The array with another type or shape, or with values that are none."""
    match random_.randrange(7):
        case 0 | 1:
            try:
                with np.errstate(invalid="ignore"):
                    return array.astype(random_.choice(TYPES))
            except (ValueError, TypeError):
                return array[:0]
        case 2:
            return array[..., :1]
        case 3:
            return array.ravel()
        case 4:
            return array[None]
        case 5:
            return array * np.nan if array.dtype.kind == "f" else array[:0]
        case _:
            return array.T


def array_files(path: Path, header: str, count: int, random_: random.Random) -> Iterator[bytes]:
    """Damaged versions of an .npz file, whose JSON is the array `header`."""
    with np.load(path) as held:
        arrays = dict(held)
    for _ in range(count):
        if random_.random() < 0.25:
            yield damaged(path.read_bytes(), random_)
            continue
        changed = dict(arrays)
        if random_.random() < 0.6:
            content = json.loads(arrays[header].tobytes())
            for _ in range(random_.randint(1, 3)):
                content = mutated(content, random_)
            changed[header] = np.frombuffer(json.dumps(content).encode(), np.uint8)
        else:
            name = random_.choice(list(changed))
            changed[name] = reshaped(changed[name], random_)
        file = io.BytesIO()
        np.savez(file, **changed)
        yield file.getvalue()


def model_folders(folder: Path, root: Path, count: int, random_: random.Random) -> Iterator[Path]:
    """Copies of a folder with a model, in each of which one file is damaged."""
    names = sorted(file.name for file in folder.iterdir() if file.suffix in (".json", ".safetensors"))
    # A tokenizer is tried in another process, which takes a second: most inputs are of other files.
    weights = [1 if "token" in name else 8 for name in names]
    for _ in range(count):
        copy = Path(shutil.copytree(folder, root / "copy", dirs_exist_ok=True))
        (name,) = random_.choices(names, weights)
        content = (folder / name).read_bytes()
        if name.endswith(".json") and random_.random() < 0.8:
            content = json.dumps(mutated(json.loads(content), random_)).encode()
        else:
            content = damaged(content, random_)
        (copy / name).write_bytes(content)
        yield copy


def attempt(read: Callable[[], object], said: str, outcome: Outcome, problems: list[str]) -> None:
    """Read one input, and note how that ended."""
    began = time.perf_counter()
    tracemalloc.start()
    try:
        read()
        outcome.read += 1
    except HeadlightError as error:
        outcome.refused += 1
        try:
            str(error).encode("utf-8")
        except UnicodeEncodeError:
            problems.append(f"{said}: the message cannot be shown: {error!a}")
    except BaseException as error:
        problems.append(f"{said}: {type(error).__name__}: {str(error)[:200]}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    outcome.longest = max(outcome.longest, time.perf_counter() - began)
    outcome.most = max(outcome.most, peak)
    if peak > MOST_BYTES:
        problems.append(f"{said}: {peak:,} bytes were taken")


def main() -> None:
    """All kinds of files, a third of the inputs each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=2017)
    arguments = parser.parse_args()
    random_, problems = random.Random(arguments.seed), list[str]()
    outcomes = {"traces": Outcome(), "atlases": Outcome(), "model folders": Outcome()}
    with tempfile.TemporaryDirectory() as temporary:
        root, count = Path(temporary), arguments.inputs // 3
        translator = Translator.load(save_small(root) / "en-de", device="cpu")
        save_trace(translator.trace("Tom."), root / "trace.npz")
        save_atlas(
            build_atlas(translator, [CorpusSentence("Tom."), CorpusSentence("She read it.")]), root / "atlas.npz"
        )
        for kind, load in (("trace", load_trace), ("atlas", load_atlas)):
            name = "traces" if kind == "trace" else "atlases"
            for number, content in enumerate(array_files(root / f"{kind}.npz", f"{kind}.json", count, random_)):
                path = root / f"{kind}-{number}.npz"
                path.write_bytes(content)
                attempt(lambda path=path, load=load: load(path), f"{kind} {number}", outcomes[name], problems)  # type: ignore[misc]
                path.unlink()
        for model_type, tokenizer in (("bert", "wordpiece"), ("t5", "metaspace")):
            folder = save_model(root / model_type, model_type, tokenizer)
            for number, copy in enumerate(model_folders(folder, root, count // 2, random_)):
                attempt(
                    lambda copy=copy: open_reader(copy, device="cpu").trace("The cat."),  # type: ignore[misc]
                    f"{model_type} {number}",
                    outcomes["model folders"],
                    problems,
                )
    for kind, outcome in outcomes.items():
        print(f"{kind}: {outcome}")
    for problem in problems:
        print(f"  WRONG: {problem}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
