"""Tokenize sentence pairs, and batch them by tokens and length.

A run is shared between the processes that `torchrun` starts: `torchrun --nproc-per-node 2 -m -- model train …` starts
two; without the `--` it would take our `--run` for its own. torch's launcher, process group and DistributedDataParallel
do the work.
"""

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from jaxtyping import Int
from torch import Tensor

from model.config import ModelConfig
from model.errors import DataError
from model.nn.masks import pad
from model.pairs import Pair
from model.tokenizer import Tokenizer

if TYPE_CHECKING:
    from model.training.noun_genders import NounGenders


@dataclass(frozen=True)
class Processes:
    """How many processes share a run, and which of them this is."""

    count: int
    rank: int

    @property
    def is_first(self) -> bool:
        """The one that writes files and logs."""
        return self.rank == 0


ALONE = Processes(count=1, rank=0)


def join_processes(device: torch.device) -> tuple[Processes, torch.device]:
    """Meet the other processes if `torchrun` started this one; on CUDA each takes the device of its local rank."""
    if not dist.is_torchelastic_launched():
        return ALONE, device
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return Processes(dist.get_world_size(), dist.get_rank()), device


def part(processes: Processes) -> None:
    """End the meeting, after the last common step."""
    if processes.count > 1:
        dist.destroy_process_group()


def wait_for_all(processes: Processes) -> None:
    """Return when every process has come here."""
    if processes.count > 1:
        dist.barrier()


def add_up(value: Tensor, processes: Processes) -> Tensor:
    """The sum of a value over all processes, in place."""
    if processes.count > 1:
        dist.all_reduce(value)
    return value


#: Cuts of a source that others are drawn from (Kudo 2018, table 1: l = 64).
SEGMENTATIONS: Final = 64


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
    genders: tuple[tuple[int, int], ...] = ()  #: nouns of the source: their last token, and a place in `GENDERS`

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


def encode_pairs(
    pairs: Sequence[Pair],
    tokenizer: Tokenizer,
    max_tokens: int,
    *,
    weight: float = 1.0,
    cuts: int = 0,
    seed: int = 0,
    genders: "NounGenders | None" = None,
) -> list[Example]:
    """Tokenize; leave out pairs of which a side is empty or longer than `max_tokens`, or one is thrice the other.

    A pair becomes `cuts` further examples, with the source cut into other pieces; all share its weight. With `genders`
    the examples hold the place and gender of each noun.
    """
    rng = random.Random(f"cuts-{seed}")
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_batch([pair.target for pair in pairs])
    examples = []
    for pair, usual, target in zip(pairs, sources, targets, strict=True):
        others = rng.choices(tokenizer.segmentations(pair.source, SEGMENTATIONS), k=cuts) if cuts and usual else []
        examples += [
            Example(
                source,
                target,
                weight / (cuts + 1),
                genders=() if genders is None else genders.tokens_of(pair, source, tokenizer),
            )
            for source in (usual, *others)
            if 0 < len(source) <= max_tokens
            and 0 < len(target) <= max_tokens
            and max(len(source), len(target)) <= 3 * min(len(source), len(target)) + 10
        ]
    return examples


@dataclass(frozen=True)
class Batch:
    """Ids. `target_in` begins with <s>, `target_out` ends with </s>; row i of one predicts row i of the other.

    Of a batch that several processes share, each holds some sentences.
    """

    source: Int[Tensor, "batch source"]
    target_in: Int[Tensor, "batch target"]
    target_out: Int[Tensor, "batch target"]
    #: where “it” stands and what it stands for, a row each: sentence, token of the pronoun, first token of its
    #: antecedent, and the one after its last.
    links: Int[Tensor, "link 4"]
    genders: Int[Tensor, "noun 3"]  #: nouns of known gender, a row each: sentence, last token, place in `GENDERS`
    num_tokens: int  #: source and target tokens of the whole batch
    share: float  #: how much of the whole batch's target tokens this part has; 1 for a single process


def collate(examples: Sequence[Example], config: ModelConfig, processes: Processes = ALONE) -> Batch:
    """This process' part of a batch, padded; a source ends with </s>, a decoder's input begins with <s>."""
    own = examples[processes.rank :: processes.count]
    target_tokens = sum(len(example.target) + 1 for example in examples)
    # A process that is left without a sentence must take the step all the same: with one that counts for nothing.
    share = sum(len(example.target) + 1 for example in own) / target_tokens
    own = own or examples[:1]
    links = [[row, *example.link] for row, example in enumerate(own) if example.link is not None]
    genders = [[row, *noun] for row, example in enumerate(own) for noun in example.genders]
    return Batch(
        pad([[*example.source, config.eos_id] for example in own], config.pad_id),
        pad([[config.bos_id, *example.target] for example in own], config.pad_id),
        pad([[*example.target, config.eos_id] for example in own], config.pad_id),
        torch.tensor(links, dtype=torch.int64).view(-1, 4),
        torch.tensor(genders, dtype=torch.int64).view(-1, 3),
        num_tokens=sum(len(example.source) + 1 for example in examples) + target_tokens,
        share=share,
    )


def plan_epoch(examples: Sequence[Example], tokens_per_batch: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Indices of one epoch's batches: similar lengths together, at most `tokens_per_batch` padded tokens a side.

    An example of weight 2.3 comes twice, and a third time in three epochs of ten. The plan depends on its arguments
    alone, so that a resumed run goes on with the very next batch, and every process of a run makes the same one.
    """
    rng = np.random.default_rng((seed, epoch))
    weights = np.array([example.weight for example in examples])
    chosen = np.repeat(np.arange(len(examples)), (weights + rng.random(len(weights))).astype(int))
    widths = np.array([example.longest + 1 for example in examples])
    # Chance orders those of one length, so that every epoch groups its sentences differently.
    order = chosen[np.lexsort((rng.random(len(chosen)), widths[chosen]))]
    batches: list[list[int]] = []
    for index, longest in zip(order.tolist(), widths[order].tolist(), strict=True):
        if batches and longest * (len(batches[-1]) + 1) <= tokens_per_batch:
            batches[-1].append(index)
        else:
            batches.append([index])
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
    """This process' part of batches without end, from number `start` on. Raises a DataError without examples."""
    if not any(example.weight > 0 for example in examples):
        raise DataError(
            "No sentence pair is left to train on: all are empty or too long, or one side is three times as long as "
            "the other."
        )
    epoch = 0
    while True:
        plan = plan_epoch(examples, tokens_per_batch, seed=seed, epoch=epoch)
        for indices in plan[start:]:
            yield collate([examples[i] for i in indices], config, processes)
        start = max(0, start - len(plan))
        epoch += 1
