"""Tokenize sentence pairs, and batch them by tokens and length."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from model.errors import DataError
from model.model_config import ModelConfig
from model.nn.masks import pad
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.processes import ALONE, Processes


class Link(NamedTuple):
    """What “it” stands for in a source: the token of the pronoun, and those [begin, end) of its antecedent."""

    pronoun: int
    begin: int
    end: int


class Example(NamedTuple):
    """Token ids of one pair, without special tokens; an epoch shows it `weight` times on average."""

    source: list[int]
    target: list[int]
    weight: float = 1.0
    link: Link | None = None

    @property
    def longest(self) -> int:
        """Tokens of the longer side."""
        return max(len(self.source), len(self.target))

    @property
    def num_tokens(self) -> int:
        """Tokens of both sides."""
        return len(self.source) + len(self.target)


def link_in(source: str, antecedent: str, tokenizer: Tokenizer) -> Link | None:
    """The link of a sentence with one “it” and one mention of its antecedent; None of any other."""
    words = (re.findall(rf"\b{re.escape(word)}\b", source, re.IGNORECASE) for word in ("it", antecedent))
    if any(len(found) != 1 for found in words):
        return None
    offsets = tokenizer.offsets(source)

    def tokens_of(word: str) -> list[int]:
        match = re.search(rf"\b{re.escape(word)}\b", source, re.IGNORECASE)
        assert match is not None
        return [i for i, (begin, end) in enumerate(offsets) if begin < match.end() and match.start() < end]

    pronoun, noun = tokens_of("it"), tokens_of(antecedent)
    return Link(pronoun[-1], noun[0], noun[-1] + 1)


def encode_pairs(pairs: Sequence[Pair], tokenizer: Tokenizer, max_tokens: int, *, weight: float = 1.0) -> list[Example]:
    """Tokenize; leave out pairs of which a side is empty or longer than `max_tokens`, or one is thrice the other."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_batch([pair.target for pair in pairs])
    return [
        Example(source, target, weight)
        for source, target in zip(sources, targets, strict=True)
        if 0 < len(source) <= max_tokens
        and 0 < len(target) <= max_tokens
        and max(len(source), len(target)) <= 3 * min(len(source), len(target)) + 10
    ]


@dataclass(frozen=True)
class Batch:
    """Ids. `target_in` begins with <s>, `target_out` ends with </s>; row i of one predicts row i of the other.

    Of a batch that several processes share, each holds some sentences.

    Attributes:
        num_tokens: source and target tokens of the whole batch.
        links: where “it” stands and what it stands for, a row each: sentence, token of the pronoun, first token of its
            antecedent, and the one after its last.
        share: how much of the whole batch's target tokens this part has; 1 for a single process.
    """

    source: Int[Tensor, "batch source"]
    target_in: Int[Tensor, "batch target"]
    target_out: Int[Tensor, "batch target"]
    links: Int[Tensor, "link 4"]
    num_tokens: int
    share: float


def collate(examples: Sequence[Example], config: ModelConfig, processes: Processes = ALONE) -> Batch:
    """This process' part of a batch, padded; a source ends with </s>, a decoder's input begins with <s>."""
    own = examples[processes.rank :: processes.count]
    target_tokens = sum(len(example.target) + 1 for example in examples)
    # A process that is left without a sentence must take the step all the same: with one that counts for nothing.
    share = sum(len(example.target) + 1 for example in own) / target_tokens
    own = own or examples[:1]
    links = [[row, *example.link] for row, example in enumerate(own) if example.link is not None]
    return Batch(
        pad([[*example.source, config.eos_id] for example in own], config.pad_id),
        pad([[config.bos_id, *example.target] for example in own], config.pad_id),
        pad([[*example.target, config.eos_id] for example in own], config.pad_id),
        torch.tensor(links, dtype=torch.int64).view(-1, 4),
        num_tokens=sum(len(example.source) + 1 for example in examples) + target_tokens,
        share=share,
    )


def plan_epoch(examples: Sequence[Example], tokens_per_batch: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Indices of one epoch's batches: similar lengths together, at most `tokens_per_batch` padded tokens a side.

    An example of weight 2.3 comes twice, and a third time in three epochs of ten. The plan depends on its arguments
    alone, so that a resumed run goes on with the very next batch, and every process of a run makes the same one.
    """
    rng = random.Random(f"{seed}-{epoch}")
    chosen = [
        index
        for index, example in enumerate(examples)
        for _ in range(int(example.weight) + (example.weight % 1 > 0 and rng.random() < example.weight % 1))
    ]
    # Noise in the sort key makes every epoch group its sentences differently.
    order = sorted(
        chosen, key=lambda i: (examples[i].longest + rng.random(), len(examples[i].source) + 2 * rng.random())
    )
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for index in order:
        width = examples[index].longest + 1
        if batch and max(longest, width) * (len(batch) + 1) > tokens_per_batch:
            batches.append(batch)
            batch, longest = [], 0
        batch.append(index)
        longest = max(longest, width)
    # An epoch of few examples with small weights may have none.
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def endless_batches(
    examples: Sequence[Example],
    config: ModelConfig,
    tokens_per_batch: int,
    *,
    seed: int,
    start: int = 0,
    processes: Processes = ALONE,
) -> Iterator[Batch]:
    """Batches without end, from batch number `start` on, epoch after epoch; of each, this process' part.

    Raises:
        DataError: there is no example.
    """
    if not any(example.weight > 0 for example in examples):
        raise DataError("No pair is left to train on: all are too long, empty, or one side is three times the other.")
    epoch = 0
    while True:
        plan = plan_epoch(examples, tokens_per_batch, seed=seed, epoch=epoch)
        for indices in plan[start:]:
            yield collate([examples[i] for i in indices], config, processes)
        start = max(0, start - len(plan))
        epoch += 1
