"""Sentence pairs from files, and batches of them by tokens and length. Knows nothing of the model."""

import gzip
import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from model.config import TransformerConfig
from model.errors import DataError
from model.tokenizer import Tokenizer

OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


class Example(NamedTuple):
    """Token ids of one pair, without special tokens."""

    source: list[int]
    target: list[int]


def read_pairs(path: Path, limit: int | None = None) -> list[Pair]:
    """Read a TSV file (plain, `.xz` or `.gz`): one pair a line, source TAB target, UTF-8.

    Args:
        path: the file.
        limit: read at most this many pairs.

    Raises:
        DataError: there is no such file, it is damaged or not UTF-8, a line has no two columns, or there is no pair.
    """
    pairs: list[Pair] = []
    try:
        with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if limit is not None and len(pairs) >= limit:
                    break
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
                    raise DataError(f"{path}, line {number}: expected “source TAB target”, got {line[:60]!r}.")
                pairs.append(Pair(columns[0], columns[1]))
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}; name a TSV file (.tsv, .tsv.xz or .tsv.gz).") from error
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}.") from error
    if not pairs:
        raise DataError(f"{path} holds no pair.")
    return pairs


def encode_pairs(pairs: Sequence[Pair], tokenizer: Tokenizer, max_tokens: int) -> list[Example]:
    """Tokenize; leave out pairs of which a side is empty or longer than `max_tokens`, or one is thrice the other."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_batch([pair.target for pair in pairs])
    return [
        Example(source, target)
        for source, target in zip(sources, targets, strict=True)
        if 0 < len(source) <= max_tokens
        and 0 < len(target) <= max_tokens
        and max(len(source), len(target)) <= 3 * min(len(source), len(target)) + 10
    ]


@dataclass(frozen=True)
class Batch:
    """Ids. `target_in` begins with <s>, `target_out` ends with </s>; row i of one predicts row i of the other."""

    source: Int[Tensor, "batch source"]
    target_in: Int[Tensor, "batch target"]
    target_out: Int[Tensor, "batch target"]
    num_tokens: int


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> Int[Tensor, "row position"]:
    """Rows of different lengths as one tensor, padded at the end."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])


def collate(examples: Sequence[Example], config: TransformerConfig) -> Batch:
    """One padded batch; a source ends with </s>, a decoder's input begins with <s>."""
    sources = [[*example.source, config.eos_id] for example in examples]
    targets_in = [[config.bos_id, *example.target] for example in examples]
    targets_out = [[*example.target, config.eos_id] for example in examples]
    return Batch(
        pad(sources, config.pad_id),
        pad(targets_in, config.pad_id),
        pad(targets_out, config.pad_id),
        num_tokens=sum(map(len, sources)) + sum(map(len, targets_out)),
    )


def plan_epoch(examples: Sequence[Example], tokens_per_batch: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Indices of one epoch's batches: similar lengths together, at most `tokens_per_batch` padded tokens a side.

    The plan depends on its arguments alone, so that a resumed run goes on with the very next batch.
    """
    rng = random.Random(f"{seed}-{epoch}")
    # Noise in the sort key makes every epoch group its sentences anew.
    order = sorted(
        range(len(examples)),
        key=lambda i: (max(map(len, examples[i])) + rng.random(), len(examples[i].source) + 2 * rng.random()),
    )
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for index in order:
        width = max(map(len, examples[index])) + 1
        if batch and max(longest, width) * (len(batch) + 1) > tokens_per_batch:
            batches.append(batch)
            batch, longest = [], 0
        batch.append(index)
        longest = max(longest, width)
    batches.append(batch)
    rng.shuffle(batches)
    return batches


def endless_batches(
    examples: Sequence[Example], config: TransformerConfig, tokens_per_batch: int, *, seed: int, start: int = 0
) -> Iterator[Batch]:
    """Batches without end, from batch number `start` on, epoch after epoch."""
    epoch = 0
    while True:
        plan = plan_epoch(examples, tokens_per_batch, seed=seed, epoch=epoch)
        for indices in plan[start:]:
            yield collate([examples[i] for i in indices], config)
        start = max(0, start - len(plan))
        epoch += 1
